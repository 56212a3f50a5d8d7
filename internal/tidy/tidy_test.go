// Package tidy holds what has become habit: its tests read the repository's
// source and say where it strays.
package tidy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	linesMax     = 500 // of a source file
	testLinesMax = 800
	funcLinesMax = 150
)

// sources calls f for each Go file of the module that people wrote.
func sources(t *testing.T, f func(path string, content []byte)) {
	t.Helper()
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "data" || rel == "bin"):
			return filepath.SkipDir
		case d.IsDir() && rel != ".":
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // a module of its own
			}
		case strings.HasSuffix(path, ".go"):
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			f(filepath.ToSlash(rel), b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d files were read", files)
	}
}

func generated(content []byte) bool {
	head, _, _ := bytes.Cut(content, []byte("\npackage "))
	return bytes.Contains(head, []byte("Code generated"))
}

// TestFilesAreShort: a file has one idea, and a function one job.
func TestFilesAreShort(t *testing.T) {
	sources(t, func(path string, content []byte) {
		if generated(content) {
			return
		}
		most := linesMax
		if strings.HasSuffix(path, "_test.go") {
			most = testLinesMax
		}
		if n := bytes.Count(content, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d", path, n, most)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || strings.HasSuffix(path, "_test.go") {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line; n > funcLinesMax {
				t.Errorf("%s: %s has %d lines, more than %d", path, fn.Name.Name, n, funcLinesMax)
			}
		}
	})
}

// TestExportedIsDocumented: every exported name of a package that others import
// says what it is, and every package has a comment that touches its clause.
func TestExportedIsDocumented(t *testing.T) {
	documented := make(map[string]bool)
	sources(t, func(path string, content []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(path)
		documented[dir] = documented[dir] || file.Doc != nil
		if file.Name.Name == "main" {
			return
		}
		for _, d := range file.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no comment", path, name)
			}
		}
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

// known are methods that do what every reader knows from the standard library.
var known = map[string]bool{"Error": true, "String": true, "Set": true, "Type": true}

// undocumented lists the exported names of a declaration that have no comment of
// their own, nor a group's.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !known[d.Name.Name] {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if d.Doc == nil && s.Doc == nil && s.Name.IsExported() {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if d.Doc == nil && s.Doc == nil && s.Comment == nil && n.IsExported() {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !exported {
			exported = id.IsExported()
			return false
		}
		return true
	})
	return exported
}

// TestNoLeftovers: what is said to come later does not land.
func TestNoLeftovers(t *testing.T) {
	words := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "println" + "(\"DEBUG"}
	sources(t, func(path string, content []byte) {
		for _, w := range words {
			if i := bytes.Index(content, []byte(w)); i >= 0 {
				t.Errorf("%s:%d: %s", path, 1+bytes.Count(content[:i], []byte("\n")), w)
			}
		}
	})
}
