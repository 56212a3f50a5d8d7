//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/ledger/stream"
)

// numberedRows are rows of CSV that hold the numbers from first on.
func numberedRows(header bool, first, count int) string {
	var b strings.Builder
	if header {
		b.WriteString("time,n\n")
	}
	for i := range count {
		fmt.Fprintf(&b, "%d,%d\n", 1_700_000_000_000+int64(first+i), first+i)
	}
	return b.String()
}

// interrupted starts an import, waits until the stream has n records, and ends it
// with Ctrl-C while it waits for more. It returns what the import says.
func interrupted(t *testing.T, dir string, n stream.Seq, cmd *exec.Cmd) string {
	t.Helper()
	if signal.Ignored(os.Interrupt) {
		t.Skip("these tests were started with the signal ignored, as nohup does: so is the command")
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if !waitGrown(t, dir, n, ended) {
		t.Fatalf("the import has ended: %s", errs.String())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the import ended with %v, want exit code 1", err)
	}
	return errs.String()
}

func importArgs(dir string, files ...string) []string {
	return append(append([]string{"import", dir}, files...), "--preset", "csv", "--time-column", "time", "-q", "--format", "jsonl")
}

// TestImportInterrupted: Ctrl-C ends an import that waits for standard input. Its
// whole batches are in the stream, it says how many rows that were, and behind
// them one can go on.
func TestImportInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	run(t, "create", dir, "--field", "n:u32", "--capacity", "1024", "-q")
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer feed.Close()
	// A row is cut in two: what comes of it is no row.
	go func() { _, _ = feed.WriteString(numberedRows(true, 0, 3*1024+100) + "17000000") }()
	cmd := ledgerctl(t, importArgs(dir, "-")...)
	cmd.Stdin = in
	said := interrupted(t, dir, 3*1024, cmd)
	if want := "ledgerctl: interrupted; appended before it: 3072 records; run it again to go on, from a pipe with the rows that are left\n"; said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	wholeStream(t, dir, 3*1024, 1024)

	again := ledgerctl(t, importArgs(dir, "-")...)
	again.Stdin = strings.NewReader(numberedRows(true, 3*1024, 1024))
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wholeStream(t, dir, 4*1024, 1024)
}

// TestImportOfFilesInterrupted: what an import that was interrupted has appended
// of files is not appended again.
func TestImportOfFilesInterrupted(t *testing.T) {
	dir, tmp := filepath.Join(t.TempDir(), "s"), t.TempDir()
	run(t, "create", dir, "--field", "n:u32", "--capacity", "1024", "-q")
	file, rest, pipe := filepath.Join(tmp, "file.csv"), filepath.Join(tmp, "rest.csv"), filepath.Join(tmp, "pipe")
	for path, text := range map[string]string{file: numberedRows(true, 0, 5000), rest: numberedRows(true, 7048, 1000)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	feed, err := os.OpenFile(pipe, os.O_RDWR, 0) // both ends: it waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	go func() { _, _ = feed.WriteString(numberedRows(true, 5000, 2048)) }()
	said := interrupted(t, dir, 7048, ledgerctl(t, importArgs(dir, file, pipe)...))
	if !strings.HasPrefix(said, "ledgerctl: interrupted; appended before it: 7048 records; ") {
		t.Errorf("it says %q", said)
	}
	wholeStream(t, dir, 7048, 1)
	if out := run(t, importArgs(dir, file, rest)...); !strings.Contains(out, `"appended":"1000","there":"5000"`) {
		t.Errorf("run again: %s", out)
	}
	wholeStream(t, dir, 8048, 1)
}
