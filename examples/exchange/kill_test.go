package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKill: killed after any number of acknowledgements and run again, the day
// ends as if nothing had happened.
func TestKill(t *testing.T) {
	want := smallDay(t)
	for _, after := range []int{1, 63, 64, 65, 2000, 4000} {
		t.Run("after="+strconv.Itoa(after), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			killed(t, small(dir, "--kill-after", strconv.Itoa(after))...)
			acked(t, dir, after)
			out := program(t, exitFine, small(dir)...)
			if !strings.Contains(out, thousands(after)+", each in the journal as it was acknowledged") {
				t.Errorf("nothing of %d acknowledgements in\n%s", after, out)
			}
			if got := endState(t, out); got != want {
				t.Errorf("it comes to %s, without a kill to %s", got, want)
			}
		})
	}
}

// TestKillAgainAndAgain kills each run, those that have just recovered too.
func TestKillAgainAndAgain(t *testing.T) {
	want := smallDay(t)
	dir := t.TempDir()
	total := 0
	for _, after := range []int{500, 1, 40, 1500} {
		killed(t, small(dir, "--kill-after", strconv.Itoa(after))...)
		total += after
		acked(t, dir, total)
	}
	if got := endState(t, program(t, exitFine, small(dir)...)); got != want {
		t.Errorf("it comes to %s, without a kill to %s", got, want)
	}
}

// TestKillBeyondTheEnd: a day that is too short for it isn't killed.
func TestKillBeyondTheEnd(t *testing.T) {
	program(t, exitFine, small(t.TempDir(), "--kill-after", "4001")...)
}

// TestKillFromOutside kills runs at whatever they are doing when the log of
// acknowledgements has reached some size, again and again in one directory.
func TestKillFromOutside(t *testing.T) {
	want := smallDay(t)
	dir := t.TempDir()
	for _, n := range []int64{1, 1000, 1001, 3000} {
		run := child(t, small(dir, "--keep", "0")...)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		whenAcked(t, run, dir, n, func() { run.Process.Kill() })
	}
	if got := endState(t, program(t, exitFine, small(dir)...)); got != want {
		t.Errorf("it comes to %s, without a kill to %s", got, want)
	}
}

// TestInterrupt: Ctrl-C ends a run in good order, to be gone on with.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't be sent an interrupt on Windows")
	}
	want := smallDay(t)
	dir := t.TempDir()
	run := child(t, small(dir, "--keep", "0")...)
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	early := whenAcked(t, run, dir, 32, func() { run.Process.Signal(os.Interrupt) })
	if code := run.ProcessState.ExitCode(); early && (code != exitFailed || !strings.Contains(out.String(), "run it again to go on")) && code != exitFine {
		t.Errorf("interrupted, it ended with %d:\n%s", code, &out)
	}
	if got := endState(t, program(t, exitFine, small(dir)...)); got != want {
		t.Errorf("it comes to %s, without an interrupt to %s", got, want)
	}
}

// whenAcked calls do once the program, which was started, has acknowledged n
// orders in all, and waits for its end. It is false if the end came first.
func whenAcked(t *testing.T, run *exec.Cmd, dir string, n int64, do func()) (early bool) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	poll := time.NewTicker(50 * time.Microsecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-poll.C:
			if info, err := os.Stat(filepath.Join(dir, "acks")); err == nil && info.Size() >= n*ackSize {
				do()
				<-ended
				return true
			}
		}
	}
}

// killed runs the program and wants it killed, not ended.
func killed(t *testing.T, args ...string) {
	t.Helper()
	cmd := child(t, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() >= 0 && runtime.GOOS != "windows" {
		t.Fatalf("it was to be killed, and ended with %v:\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "SIGKILL") || strings.Contains(out.String(), "End state") {
		t.Fatalf("a killed run said\n%s", &out)
	}
}

// acked wants n acknowledgements in the log.
func acked(t *testing.T, dir string, n int) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "acks"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != int64(n)*ackSize {
		t.Fatalf("%d bytes of acknowledgements, want %d × %d", info.Size(), n, ackSize)
	}
}
