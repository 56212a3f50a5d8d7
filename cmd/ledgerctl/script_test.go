package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, commands)
}

// commands are those of the scripts that are Go.
var commands = map[string]func(){"ledgerctl": main}

// TestScripts runs testdata/script: each verb's good and bad paths, as a shell
// sees them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			case "unprivileged":
				return exec.Command("unprivileged", "--version").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":      cmdCode,
			"untouched": cmdUntouched,
			"flip":      cmdFlip,
			"empty":     cmdEmpty,
		},
	})
}

// code N PROGRAM ARGS...: exec that wants the exit code N.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// untouched DIR PROGRAM ARGS...: exec that must leave every file of DIR as it was,
// its time of change included. With ! before it, the program must fail.
func cmdUntouched(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] untouched dir program [args...]")
	}
	dir := ts.MkAbs(args[0])
	before := fingerprint(ts, dir)
	if err := ts.Exec(args[1], args[2:]...); !neg {
		ts.Check(err)
	} else if err == nil {
		ts.Fatalf("%q did not fail", args[1:])
	}
	if after := fingerprint(ts, dir); after != before {
		ts.Fatalf("%s has changed:\n%s\nwas\n%s", dir, after, before)
	}
}

func fingerprint(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %v", path, info.Mode(), info.ModTime())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// flip FILE OFFSET: changes one bit of a file. A negative offset counts from the end.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip file offset")
	}
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(content)
	}
	content[at] ^= 1
	ts.Check(os.WriteFile(path, content, 0o640))
}

// empty FILE...: the files have no bytes; stdout and stderr are the last command's.
func cmdEmpty(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if text := ts.ReadFile(name); (text == "") == neg {
			ts.Fatalf("%s is %q", name, text)
		}
	}
}
