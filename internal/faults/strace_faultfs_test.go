//go:build faultfs && linux

package faults

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"example.com/ledger/stream"
)

// calls are the system calls that change files, sync, map and lock.
var calls = []string{"fsync", "fdatasync", "pwrite64", "openat", "renameat", "unlinkat", "mkdirat", "ftruncate", "mmap", "msync", "flock"}

// traced runs the script under strace, with one injection, in dir.
func traced(t *testing.T, inject, dir string, mode stream.Durability, told *Told) (err error, stderr string) {
	t.Helper()
	cmd := victim(t, "-dir="+dir, "-mode="+mode.String())
	call, _, _ := strings.Cut(inject, ":")
	args := []string{"-f", "-qq", "-o", "/dev/null", "-e", "trace=/^" + call + "(2)?$", "-e", "inject=/^" + call + "(2)?$" + strings.TrimPrefix(inject, call), cmd.Path}
	return told.hear(t, straced(cmd, args), mode, nil)
}

// straced is a victim's command under strace, whose arguments end with its path.
func straced(victim *exec.Cmd, args []string) *exec.Cmd {
	cmd := exec.Command("strace", append(args, victim.Args[1:]...)...)
	cmd.Env = victim.Env
	return cmd
}

// A job is one run with a fault, and the audit of what it left.
type job struct {
	mode stream.Durability
	name string
	run  func(dir string, told *Told) (spared bool)
}

// each does jobs, two at a time, until they are done, and returns how many were
// not spared. after, if not nil, looks at a run that was audited.
func each(t *testing.T, jobs []job, after func(j job, told *Told, rep stream.OpenReport)) (faults int) {
	root := tmpfs(t, "size=256m")
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	for range 2 {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(jobs) || t.Failed() {
					return
				}
				j := jobs[i]
				dir := filepath.Join(root, fmt.Sprint(i), "s")
				told := &Told{}
				spared := j.run(dir, told)
				rep, err := audit{dir: dir, mode: j.mode, told: told}.run()
				mu.Lock()
				if err != nil {
					t.Errorf("%v, %s: %v\n%v\nthe disk has%s", j.mode, j.name, err, told, listing(dir))
				} else if after != nil {
					after(j, told, rep)
				}
				if !spared {
					faults++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return faults
}

// TestKillAtEveryCall kills the scripted writer at its Nth system call of each
// kind, for each N that any of its threads comes to: strace counts for each
// thread. TestKillAtEveryPoint counts for the process.
func TestKillAtEveryCall(t *testing.T) {
	needs(t, true, "strace")
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			tops := countCalls(t, mode)
			var jobs []job
			for _, call := range calls {
				step := sample(max(1, tops[call]/2), 1)
				for n := 1; n <= tops[call]+1; n += step {
					inject := fmt.Sprintf("%s:signal=KILL:when=%d", call, n)
					jobs = append(jobs, job{mode, inject, func(dir string, told *Told) bool {
						err, _ := traced(t, inject, dir, mode, told)
						return err == nil
					}})
				}
			}
			replayed := 0
			kills := each(t, jobs, func(_ job, _ *Told, rep stream.OpenReport) {
				if rep.Replayed > 0 {
					replayed++
				}
			})
			t.Logf("%d kills of %d runs, %d recoveries replayed; calls of one thread at most: %v", kills, len(jobs), replayed, tops)
			if kills < len(jobs)/2 || replayed == 0 {
				t.Errorf("%d kills, %d replays: the test saw too little", kills, replayed)
			}
		})
	}
}

// countCalls returns the largest number of calls of each kind that one thread
// makes in a run without a fault.
func countCalls(t *testing.T, mode stream.Durability) map[string]int {
	t.Helper()
	tops, threads := map[string]int{}, map[string]int{}
	for _, l := range trace(t, mode, "script") {
		threads[l.thread+" "+l.call]++
		tops[l.call] = max(tops[l.call], threads[l.thread+" "+l.call])
	}
	for _, call := range []string{"fsync", "fdatasync", "pwrite64", "openat", "renameat", "unlinkat", "mkdirat", "mmap", "flock"} {
		if tops[call] == 0 {
			t.Fatalf("the trace has no %s: %v", call, tops)
		}
	}
	return tops
}

// TestKillAtEveryPoint kills the scripted writer before and after each of its
// file operations, whichever thread does it.
func TestKillAtEveryPoint(t *testing.T) {
	needs(t, true)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			last := points(t, mode)
			var jobs []job
			for n := 1; n <= last; n += sample(last/12, 1) {
				jobs = append(jobs, job{mode, fmt.Sprintf("killed at point %d of %d", n, last), func(dir string, told *Told) bool {
					err, _ := told.hear(t, victim(t, fmt.Sprint("-point=", n), "-dir="+dir, "-mode="+mode.String()), mode, nil)
					return err == nil
				}})
			}
			kills := each(t, jobs, nil)
			t.Logf("%d kills of %d runs", kills, len(jobs))
			if kills < len(jobs)*9/10 {
				t.Errorf("%d kills of %d runs: the test saw too little", kills, len(jobs))
			}
		})
	}
}

// A traceLine is one system call of a trace, from its start to its end.
type traceLine struct {
	thread, call, args, result string
	start, end                 int // of all starts and ends, which one
	path                       string
}

var (
	lineCall    = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (.*)$`)
	lineBegin   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	lineResumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (.*)$`)
	argPath     = regexp.MustCompile(`^(?:AT_FDCWD<[^>]*>, )?"([^"]*)"|^\d+<([^>]*)>`)
)

// trace runs a script under strace and returns its calls in the order of their starts.
func trace(t *testing.T, mode stream.Durability, run string) []traceLine {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "trace")
	cmd := victim(t, "-run="+run, "-dir="+filepath.Join(dir, "s"), "-mode="+mode.String())
	args := []string{"-f", "-y", "-s", "80", "-o", out, "-e", "trace=/^(fsync|fdatasync|sync.*|pwrite64|openat|renameat2?|unlinkat|mkdirat|ftruncate|mmap|msync|flock|write)$", cmd.Path}
	var told Told
	if err, stderr := told.hear(t, straced(cmd, args), mode, nil); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	lines := parseTrace(t, out)
	if len(lines) < 50 {
		t.Fatalf("a trace of %d lines", len(lines))
	}
	return lines
}

func parseTrace(t *testing.T, file string) (lines []traceLine) {
	t.Helper()
	b, err := os.ReadFile(file)
	check(t, err)
	open := map[string]int{}
	for i, text := range strings.Split(string(b), "\n") {
		if m := lineCall.FindStringSubmatch(text); m != nil {
			lines = append(lines, traceLine{thread: m[1], call: m[2], args: m[3], result: m[4], start: i, end: i})
		} else if m := lineBegin.FindStringSubmatch(text); m != nil {
			open[m[1]+m[2]] = len(lines)
			lines = append(lines, traceLine{thread: m[1], call: m[2], args: m[3], start: i, end: math.MaxInt})
		} else if m := lineResumed.FindStringSubmatch(text); m != nil {
			if k, ok := open[m[1]+m[2]]; ok {
				lines[k].args += m[3]
				lines[k].result, lines[k].end = m[4], i
			}
		}
	}
	for i := range lines {
		l := &lines[i]
		l.call = strings.TrimSuffix(l.call, "2")
		if m := argPath.FindStringSubmatch(l.args); m != nil {
			l.path = m[1] + m[2]
		}
	}
	return lines
}
