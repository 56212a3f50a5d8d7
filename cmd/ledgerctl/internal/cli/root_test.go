package cli

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// verbs returns every verb of a fresh command tree.
func verbs() []*cobra.Command {
	root := newRoot(&app{errs: io.Discard, out: newOutput(io.Discard)})
	return append([]*cobra.Command{root}, root.Commands()...)
}

// TestHelp: every verb tells what it does, by example, within 80 columns, and
// each of its flags does.
func TestHelp(t *testing.T) {
	for _, v := range verbs() {
		if v.Short == "" || v.Example == "" || (v.Long == "" && v.Name() != "help") {
			t.Errorf("%s lacks a short or long help or an example", v.Name())
		}
		if strings.HasSuffix(v.Short, ".") {
			t.Errorf("%s: short help ends with a full stop", v.Name())
		}
		files := v.Name() == "inspect" || v.Name() == "import" // which the shell completes
		if v.HasParent() && v.ValidArgsFunction == nil && !files {
			t.Errorf("%s doesn't complete its arguments", v.Name())
		}
		v.InitDefaultHelpFlag()
		for line := range strings.Lines(v.Long + "\n" + v.UsageString()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line of its help has %d columns: %s", v.Name(), n, line)
			}
		}
	}
}

// TestExamples: what the help shows is accepted.
func TestExamples(t *testing.T) {
	shown := 0
	for _, v := range verbs() {
		for _, line := range strings.FieldsFunc(strings.ReplaceAll(v.Example, "\\\n", " "), func(r rune) bool { return strings.ContainsRune("\n|&;()", r) }) {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] != "ledgerctl" {
				continue
			}
			for i, w := range words {
				if w == "<" || w == ">" {
					words = words[:i]
					break
				}
			}
			shown++
			root := newRoot(&app{errs: io.Discard, out: newOutput(io.Discard)})
			cmd, args, err := root.Find(words[1:])
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err == nil {
				err = cmd.ValidateFlagGroups()
			}
			if err != nil {
				t.Errorf("%s: example %q: %v", v.Name(), line, err)
			}
		}
	}
	if shown < 20 {
		t.Fatalf("only %d examples were tried", shown)
	}
}

// FuzzArguments: no command line makes the command panic or end with another code
// than its own. No verb runs: flags and arguments are read, that is all.
func FuzzArguments(f *testing.F) {
	for _, v := range verbs() {
		for line := range strings.Lines(v.Example) {
			f.Add(strings.TrimPrefix(strings.TrimSpace(line), "ledgerctl "))
		}
	}
	f.Add("dump a --from=-1 --columns ,,\x00 --limit 99999999999999999999")
	f.Fuzz(func(t *testing.T, line string) {
		a := &app{errs: io.Discard, out: newOutput(io.Discard)}
		root := newRoot(a)
		for _, v := range root.Commands() {
			if v.Name() != "help" {
				v.RunE = func(*cobra.Command, []string) error { a.began = true; return nil }
			}
		}
		root.SetArgs(strings.Split(line, " "))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		cmd, err := root.ExecuteC()
		if code := a.exit(cmd, err); code != exitOK && code != exitUsage {
			t.Fatalf("%q: exit code %d, %v", line, code, err)
		}
	})
}
