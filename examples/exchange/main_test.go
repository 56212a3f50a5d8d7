package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// asProgram makes the test binary be the program: what a test kills must be a
// process of its own.
const asProgram = "EXCHANGE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	code := m.Run()
	if unkilled.dir != "" {
		os.RemoveAll(unkilled.dir)
	}
	os.Exit(code)
}

// unkilled is a small day that nothing happened to, for all tests: with all its
// segments, to be copied, and its end state.
var unkilled struct {
	once sync.Once
	dir  string
	end  string
}

// smallDay returns the end state of a small day.
func smallDay(t *testing.T) (end string) {
	t.Helper()
	u := &unkilled
	u.once.Do(func() {
		dir, err := os.MkdirTemp("", "exchange")
		if err != nil {
			t.Fatal(err)
		}
		u.dir = dir
		u.end = endState(t, program(t, exitFine, small(dir, "--keep", "0")...))
	})
	return u.end
}

// kept returns a copy of the small day, and its end state.
func kept(t *testing.T) (dir, end string) {
	t.Helper()
	end, dir = smallDay(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(unkilled.dir)); err != nil {
		t.Fatal(err)
	}
	return dir, end
}

// child is the program in a process of its own.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// program runs the program in this process and wants the exit code.
func program(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), args, &stdout, &stderr); got != code {
		t.Fatalf("exchange %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	return stdout.String() + stderr.String()
}

// endState returns the line of a run's output by which days are compared.
func endState(t *testing.T, out string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if strings.Contains(line, "fingerprint") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no end state in\n%s", out)
	return ""
}

// small are the flags of a day that a test can repeat often.
func small(dir string, more ...string) []string {
	return append([]string{"--dir", dir, "--orders", "4000", "--symbols", "3", "--seed", "5", "--batch", "64"}, more...)
}

func TestDay(t *testing.T) {
	dir := t.TempDir()
	out := program(t, exitFine, small(dir, "--keep", "0")...)
	for _, want := range []string{
		"generated, 3 symbols, seed 5",
		"all                               4,000",
		"every fill names two earlier orders of the journal",
		"4,000 records",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Recovery") || strings.Contains(out, "WRONG") {
		t.Errorf("a first run says\n%s", out)
	}

	// Without retention the same day can be gone through again, and again.
	again := program(t, exitFine, small(dir, "--keep", "0")...)
	if !strings.Contains(again, "4,000, each in the journal as it was acknowledged") {
		t.Errorf("a second run says\n%s", again)
	}
	if got, want := endState(t, again), endState(t, out); got != want {
		t.Errorf("a second run comes to %s, the first to %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "acks")); err != nil {
		t.Error(err)
	}
}

// TestDayGoesOn: a longer day begins with the shorter one.
func TestDayGoesOn(t *testing.T) {
	long, steps := t.TempDir(), t.TempDir()
	want := endState(t, program(t, exitFine, "-q", "-n", "3000", "-d", long))
	var got string
	for _, n := range []string{"1", "1000", "1000", "3000"} {
		got = endState(t, program(t, exitFine, "-q", "-n", n, "-d", steps))
	}
	if got != want {
		t.Errorf("in steps: %s, at once: %s", got, want)
	}
}

// TestDayIsOver: behind retention there is nothing to recover, and no harm done.
func TestDayIsOver(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--dir", dir, "--orders", "40000", "--batch", "2048", "--keep", "1"}
	if out := program(t, exitFine, args...); !strings.Contains(out, "1 segments dropped") {
		t.Fatalf("no segment was dropped:\n%s", out)
	}
	for range 2 {
		out := program(t, exitFine, args...)
		if !strings.Contains(out, "The day is over") || !strings.Contains(out, "Verify") {
			t.Errorf("once it is over, a run says\n%s", out)
		}
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args string
		want string
	}{
		{"", `"dir"`},
		{"--dir D more", "unknown command"},
		{"--dir D --no-such-flag", "unknown flag"},
		{"--dir D --input f", "go together"},
		{"--dir D --preset lobster --date 2012-06-21", "go together"},
		{"--dir D --input f --preset fix --date 2012-06-21", "only lobster"},
		{"--dir D --input f --preset lobster", "--date"},
		{"--dir D --date 21.6.2012", "YYYY-MM-DD"},
		{"--dir D --tz Mars/Olympus", "--tz"},
		{"--dir D --input f --preset lobster --date 2012-06-21 --seed 2", "--seed"},
		{"--dir D --symbols 0", "--symbols 0: want 1 to 65536"},
		{"--dir D --batch 0", "--batch"},
		{"--dir D --orders -1 --kill-after -1 --keep -1", "--kill-after"},
	} {
		args := strings.Fields(strings.ReplaceAll(tc.args, "D", filepath.Join(dir, "day")))
		if out := program(t, exitUsage, args...); !strings.Contains(out, tc.want) {
			t.Errorf("exchange %s says %q, want %q in it", tc.args, out, tc.want)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("a usage error left %v", names)
	}
	program(t, exitFailed, "--dir", filepath.Join(dir, "day"), "--input", filepath.Join(dir, "none.csv"), "--preset", "lobster", "--date", "2012-06-21")
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("a missing input left %v", names)
	}
}
