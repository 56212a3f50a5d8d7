//go:build faultfs && linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// TestLimits runs the scripted writer with fewer and fewer open files, less and
// less address space, room for fewer mappings, and a smaller and smaller file
// size. It comes to its end, or says why not; nothing is lost, and nothing is
// taken for damage. Where the limit is the language runtime's, it may die.
func TestLimits(t *testing.T) {
	needs(t, true)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			var jobs []job
			limit := func(what string, from, to, step int) {
				for n := from; n <= to; n += step {
					arg := fmt.Sprintf("-%s=%d", what, n)
					jobs = append(jobs, job{mode, arg, func(dir string, told *Told) bool {
						err, stderr := told.hear(t, victim(t, arg, "-dir="+dir, "-mode="+mode.String()), mode, nil)
						if strings.Contains(stderr, "panic:") || strings.Contains(stderr, "SIGBUS") || strings.Contains(stderr, "example.com/ledger/stream.") && !runtimeDeath(stderr) {
							t.Errorf("%v, %s: %s", mode, arg, stderr)
						}
						return err == nil
					}})
				}
			}
			limit("nofile", 6, 36, sample(5, 1))
			limit("fsize", 1, 8001, sample(1000, 100))
			limit("as", 1, 1<<20, sample(128<<10, 32<<10))
			limit("maps", 2, 62, sample(20, 4))
			failed, ended := map[string]int{}, 0
			each(t, jobs, func(j job, told *Told, _ stream.OpenReport) {
				if told.Ended {
					ended++
				} else {
					failed[strings.SplitN(j.name, "=", 2)[0]]++
				}
			})
			t.Logf("%d runs: %d came to their end, of the others %v", len(jobs), ended, failed)
			if ended == 0 || failed["-nofile"] == 0 || failed["-fsize"] == 0 || failed["-as"]+failed["-maps"] == 0 {
				t.Error("the test saw too little")
			}
		})
	}
}

// runtimeDeath tells whether the language runtime gave up for want of memory,
// descriptors or mappings.
func runtimeDeath(stderr string) bool {
	for _, s := range []string{"out of memory", "cannot allocate memory", "netpollinit", "failed to create new OS thread", "runtime: mmap", "cannot map pages", "failed to reserve"} {
		if strings.Contains(stderr, s) {
			return true
		}
	}
	return false
}

// TestReadOnly: on a mount that can't be written a stream is read and verified,
// and not opened for writing; not a byte changes.
func TestReadOnly(t *testing.T) {
	needs(t, true)
	dir := filepath.Join(tmpfs(t, "size=16m"), "s")
	told := &Told{}
	told.hear(t, victim(t, "-dir="+dir), stream.Commit, nil)
	if !told.Ended {
		t.Fatalf("the script has not come to its end: %v", told)
	}
	mount := filepath.Dir(dir)
	before := load(t, dir)
	check(t, unix.Mount("", mount, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	a := audit{dir: dir, mode: stream.Commit, told: told}
	if err := errors.Join(a.reads(), a.verifies(true)); err != nil {
		t.Error(err)
	}
	if s, err := stream.Open(dir, stream.OpenOptions{}); !errors.Is(err, unix.EROFS) {
		t.Errorf("open for writing: %v, %v", s, err)
	}
	if _, err := verify.Inspect(filepath.Join(dir, "journal.0")); err != nil {
		t.Error(err)
	}
	for name, b := range load(t, dir) {
		if string(before[name]) != string(b) {
			t.Errorf("%s was changed", name)
		}
	}
	check(t, unix.Mount("", mount, "", unix.MS_REMOUNT, ""))
	if _, err := a.run(); err != nil {
		t.Error(err)
	}
}

// TestManySegments: a stream of 50,000 segments is made, opened, read, verified
// and dropped, with few open files and few mappings.
func TestManySegments(t *testing.T) {
	needs(t, true)
	n := sample(3_000, 50_000)
	dir := filepath.Join(tmpfs(t, "size=2g"), "s")
	var old unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	check(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: old.Max}))
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) }()
	s, err := stream.Create(dir, stream.Options{Schema: Schema(), Capacity: 1, Durability: stream.Os})
	check(t, err)
	told := &Told{Created: true}
	for range n / 2 {
		fill(t, s, 2)
	}
	check(t, s.Close())
	told.Acked, told.Durable, told.Tried = uint64(n), uint64(n), uint64(n)
	if _, err := (audit{dir: dir, mode: stream.Os, told: told, small: true}).run(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	r, err := verify.Stream(context.Background(), dir)
	check(t, err)
	t.Logf("%d names, %d segments verified", len(entries), r.Segments)
	if r.Segments < n-8 || !r.OK {
		t.Errorf("%d segments, %v", r.Segments, r.Problems)
	}
}
