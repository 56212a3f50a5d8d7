//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// ledgerctl returns the command, not started yet. The test's context ends it.
func ledgerctl(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "ledgerctl", args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return cmd
}

// run runs the command to its end and returns its standard output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := ledgerctl(t, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%q: %v: %s", args, err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A feeder keeps an append fed until it is told to stop.
type feeder struct {
	cmd  *exec.Cmd
	acks *bufio.Scanner
	errs strings.Builder
	in   io.WriteCloser
	done chan bool
}

func feedAppend(t *testing.T, dir string, flags ...string) *feeder {
	t.Helper()
	f := &feeder{cmd: ledgerctl(t, append([]string{"append", dir, "--acks"}, flags...)...), done: make(chan bool)}
	f.cmd.Stderr = &f.errs
	in, err := f.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.in, f.acks = in, bufio.NewScanner(out)
	go func() {
		defer close(f.done)
		if _, err := io.WriteString(in, "ts,n\n"); err != nil {
			return
		}
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(in, "%d,%d\n", i, i); err != nil {
				return // the append has ended
			}
		}
	}()
	return f
}

// ack returns the end of the next acknowledged batch.
func (f *feeder) ack(t *testing.T) (first, end uint64, ok bool) {
	t.Helper()
	for f.acks.Scan() {
		var count uint64
		if _, err := fmt.Sscanf(f.acks.Text(), "%d,%d", &first, &count); err == nil {
			return first, first + count, true
		}
	}
	return 0, 0, false
}

// wholeStream checks that records [0, n) are there, with n at least acked, and
// that verify agrees.
func wholeStream(t *testing.T, dir string, acked uint64, batch uint64) {
	t.Helper()
	r, err := verify.Stream(t.Context(), dir)
	if err != nil || !r.OK {
		t.Fatalf("verify: %+v, %v", r, err)
	}
	s, err := stream.Open(dir, stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	n := uint64(snap.End())
	if n < acked || n%batch != 0 {
		t.Errorf("%d records in batches of %d, %d were acknowledged", n, batch, acked)
	}
	for seq := range n {
		rec, err := snap.Get(nil, stream.Seq(seq))
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Schema().Uint(rec, 0); v != seq {
			t.Fatalf("record %d holds %d", seq, v)
		}
	}
}

// TestAppendSignals: an append that is told to end leaves a whole stream, closed,
// and says how far it came.
func TestAppendSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("these tests were started with the signal ignored, as nohup does: so is the command")
			}
			dir := filepath.Join(t.TempDir(), "s")
			run(t, "create", dir, "--field", "n:u32", "--capacity", "64", "-q")
			f := feedAppend(t, dir, "--batch", "7")
			for range 30 {
				if _, _, ok := f.ack(t); !ok {
					t.Fatalf("append ended early: %s", f.errs.String())
				}
			}
			if err := f.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var first, end uint64
			for {
				a, b, ok := f.ack(t)
				if !ok {
					break
				}
				first, end = a, b
			}
			err := f.cmd.Wait()
			<-f.done
			if f.cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("append ended with %v, want exit code 1", err)
			}
			if want := fmt.Sprintf("ledgerctl: interrupted; appended before it: %d records, the last from line %d\n", end, end+1); f.errs.String() != want {
				t.Errorf("it says %q, want %q", f.errs.String(), want)
			}
			if first != 0 { // the last line is the sum of all
				t.Errorf("the last line begins at %d", first)
			}
			s, err := stream.Open(dir, stream.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !s.Report().Clean || uint64(s.Report().NextSeq) != end {
				t.Errorf("left %+v, want it closed at %d", s.Report(), end)
			}
			s.Close()
			wholeStream(t, dir, end, 7)
		})
	}
}

// TestAppendKilled: what was acknowledged survives kill -9, in every mode.
func TestAppendKilled(t *testing.T) {
	for _, mode := range []string{"commit", "sealed", "os"} {
		t.Run(mode, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			run(t, "create", dir, "--field", "n:u32", "--capacity", "64", "--durability", mode, "-q")
			f := feedAppend(t, dir, "--batch", "7")
			var acked uint64
			for range 50 {
				_, end, ok := f.ack(t)
				if !ok {
					t.Fatalf("append ended early: %s", f.errs.String())
				}
				acked = end
			}
			if err := f.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for {
				_, end, ok := f.ack(t)
				if !ok {
					break
				}
				acked = end
			}
			_ = f.cmd.Wait() // it was killed
			<-f.done
			wholeStream(t, dir, acked, 7)
		})
	}
}

// TestTailFollows: a tail in another process prints what a writer appends, in all
// that are streamed formats, and ends with 0 on Ctrl-C.
func TestTailFollows(t *testing.T) {
	for _, format := range []string{"csv", "jsonl", "json", "table"} {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			run(t, "create", dir, "--field", "n:u32", "--capacity", "8", "-q")
			in := ledgerctl(t, "append", dir, "-q")
			in.Stdin = strings.NewReader("ts,n\n1,1000\n2,1001\n3,1002\n")
			if err := in.Run(); err != nil {
				t.Fatal(err)
			}
			tail := ledgerctl(t, "tail", dir, "--follow", "-n", "2", "--columns", "n", "--format", format)
			out, err := tail.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := tail.Start(); err != nil {
				t.Fatal(err)
			}
			seen := make(chan string)
			go func() {
				defer close(seen)
				lines := bufio.NewScanner(out)
				for lines.Scan() {
					if strings.Contains(lines.Text(), "10") {
						seen <- strings.Trim(lines.Text(), ` ,{}":n`)
					}
				}
			}()
			want := func(n int) {
				t.Helper()
				if got, ok := <-seen; !ok || got != fmt.Sprint(n) {
					t.Fatalf("tail printed %q, want %d", got, n)
				}
			}
			want(1001)
			want(1002)
			for n := 1003; n < 1030; n++ { // over several rolls and writers
				in := ledgerctl(t, "append", dir, "-q")
				in.Stdin = strings.NewReader(fmt.Sprintf("ts,n\n%d,%d\n", n, n))
				if err := in.Run(); err != nil {
					t.Fatal(err)
				}
				want(n)
			}
			if err := tail.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			for range seen {
			}
			if err := tail.Wait(); err != nil {
				t.Errorf("tail ended with %v", err)
			}
		})
	}
}
