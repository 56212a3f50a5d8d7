//go:build faultfs && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/ledger/retention"
	"example.com/ledger/stream"
)

// TestFullDisk fills a file system of 4 MiB but for a little, and one with few
// inodes, at each level: making a stream, rolls, seals and retention fail with
// ErrNoSpace at one place or another, nothing is lost, and the same stream goes
// on once there is room.
func TestFullDisk(t *testing.T) {
	needs(t, true)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			var f fullDisk
			step := sample(28, 4) << 10
			for left := 0; left <= 256<<10; left += step {
				f.level(t, mode, "size=4m", func(dir string) (free func()) { return fillBytes(t, dir, left) })
			}
			for inodes := 0; inodes <= 24; inodes += sample(5, 1) {
				f.level(t, mode, "size=4m,nr_inodes=64", func(dir string) (free func()) { return fillInodes(t, dir, inodes) })
			}
			t.Logf("%d levels: %d failed in the making, %d in an append; %d of %d retentions on a full disk failed",
				f.levels, f.making, f.appending, f.retaining, f.retentions)
			if f.making == 0 || f.appending < f.levels/2 {
				t.Error("the test saw too little")
			}
		})
	}
}

type fullDisk struct {
	levels, making, appending, retaining, retentions int
}

// fillBytes writes a file that leaves so many bytes.
func fillBytes(t *testing.T, dir string, left int) (free func()) {
	t.Helper()
	var s unix.Statfs_t
	check(t, unix.Statfs(dir, &s))
	path := filepath.Join(dir, "filler")
	check(t, os.WriteFile(path, make([]byte, max(0, int(s.Bavail)*int(s.Bsize)-left)), 0o600))
	return func() { check(t, os.Remove(path)) }
}

// fillInodes makes empty files until so many more could be made.
func fillInodes(t *testing.T, dir string, left int) (free func()) {
	t.Helper()
	var s unix.Statfs_t
	check(t, unix.Statfs(dir, &s))
	n := max(1, int(s.Ffree)-left)
	for i := range n {
		check(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("filler", i)), nil, 0o600))
	}
	return func() {
		for i := range n {
			check(t, os.Remove(filepath.Join(dir, fmt.Sprint("filler", i))))
		}
	}
}

// level runs a stream into a full disk and gives it room again.
func (f *fullDisk) level(t *testing.T, mode stream.Durability, options string, fillUp func(dir string) (free func())) {
	t.Helper()
	mount := tmpfs(t, options)
	defer func() { _ = unix.Unmount(mount, 0) }()
	dir := filepath.Join(mount, "s")
	free := fillUp(mount)
	f.levels++
	o := stream.Options{Schema: Schema(), Capacity: 64, Durability: mode}
	told := &Told{}
	s, err := stream.Create(dir, o)
	if err != nil {
		f.making++
		if !errors.Is(err, stream.ErrNoSpace) {
			t.Errorf("create: %v", err)
		}
		free()
		if s, err = stream.Create(dir, o); err != nil {
			t.Fatalf("create, with room again: %v", err)
		}
		free = func() {}
	}
	told.Created = true
	for err == nil && told.Acked < 64*40 {
		end := s.Cursors().Appended
		told.Tried = uint64(end) + 37
		if _, _, err = s.AppendAt(end, Batch(uint64(end), 37)); err == nil {
			told.Acked = uint64(end) + 37
		}
	}
	if err != nil {
		f.appending++
		f.whileFull(t, s, told, err)
		free()
		if _, _, err := s.AppendAt(stream.Seq(told.Acked), Batch(told.Acked, 37)); err != nil {
			t.Fatalf("append, with room again: %v", err)
		}
		told.Acked += 37
	}
	check(t, s.Close())
	if _, err := (audit{dir: dir, mode: mode, told: told}).run(); err != nil {
		t.Fatalf("%v, level %d: %v\n%v%s", mode, f.levels, err, told, listing(dir))
	}
}

// whileFull looks at a stream whose append failed: the error is the right one,
// all is there, and retention works or says that it can't.
func (f *fullDisk) whileFull(t *testing.T, s *stream.Stream, told *Told, err error) {
	t.Helper()
	if !errors.Is(err, stream.ErrNoSpace) || errors.Is(err, stream.ErrPoisoned) {
		t.Fatalf("append to a full disk: %v", err)
	}
	if got := s.Cursors().Appended; uint64(got) != told.Acked {
		t.Fatalf("after an append that failed the next number is %d, not %d", got, told.Acked)
	}
	n, err := s.Snapshot()
	check(t, err)
	if err := Read(n, false, nil); err != nil {
		t.Fatalf("on a full disk: %v", err)
	}
	check(t, n.Close())
	if told.Acked < 128 || f.levels%2 == 0 {
		return
	}
	f.retentions++
	told.Retained = told.Acked - 64
	if _, err := s.Retain(retention.Policy{BeforeSeq: told.Retained}, false); err != nil {
		f.retaining++
		if !errors.Is(err, stream.ErrNoSpace) {
			t.Fatalf("retention on a full disk: %v", err)
		}
	}
}
