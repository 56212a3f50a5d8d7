package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk"
)

// follower begins behind what the journal 2 of dir holds.
func follower(t *testing.T, dir string) *Follower {
	t.Helper()
	s := readBytes(t, fileBytes(t, dir), 8)
	s.N = 2
	f, err := Follow(disk.OS(), dir, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// step reads on and compares what is new, and how far the follower is then.
func step(t *testing.T, what string, f *Follower, first uint64, n int, more bool) {
	t.Helper()
	rows, goesOn, err := f.Next([]byte("x"))
	if err != nil || goesOn != more || !bytes.Equal(rows, append([]byte("x"), rowsOf(first, n, testWidth)...)) {
		t.Fatalf("%s: %x, %v, %v, want %d records from %d, %v", what, rows, goesOn, err, n, first, more)
	}
	if f.Seq() != first+uint64(n) {
		t.Fatalf("%s: the follower is at %d, want %d", what, f.Seq(), first+uint64(n))
	}
}

// TestFollow reads each frame once, when it is whole, past marks that come and
// go, extensions and frames larger than what is read at once.
func TestFollow(t *testing.T) {
	bothWays(t, 9000, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth, First: 3, Salt: 1}), j.Records(rowsOf(3, 2, testWidth), false, 0), j.Flush())
		f := follower(t, dir)
		step(t, "nothing new", f, 5, 0, false)
		must(t, j.Records(rowsOf(5, 1, testWidth), false, 0), j.Records(rowsOf(6, 2, testWidth), false, 0), j.Mark(false, 8), j.Flush())
		step(t, "two frames and a mark", f, 5, 3, false)
		step(t, "the mark again", f, 8, 0, false)
		must(t, j.Extension(make([]byte, 48), 8), j.Flush())
		step(t, "an extension", f, 8, 0, false)
		must(t, j.Records(rowsOf(8, 1, testWidth), false, 8), j.Flush())
		step(t, "the frame behind it", f, 8, 1, false)
		must(t, j.Extension(nil, 8), j.Records(rowsOf(9, 1, testWidth), false, 8), j.Records(rowsOf(10, 4000, testWidth), false, 8), j.Records(rowsOf(4010, 3000, testWidth), false, 8), j.Flush())
		step(t, "large frames", f, 9, 7001, false)
		must(t, j.Records(rowsOf(7010, 1, testWidth), true, 8), j.Flush())
		step(t, "a batch that goes on", f, 7010, 1, true)
		must(t, j.Start(Header{Width: testWidth, First: 7011, Salt: 2}), j.Flush())
		step(t, "another life, and nothing in it", f, 7011, 0, false)
		must(t, j.Records(rowsOf(7011, 1, testWidth), false, 0), j.Flush())
		step(t, "another life's frames", f, 7011, 0, false)
	})
}

// TestFollowTorn: a frame of which any part is missing is not there yet.
func TestFollowTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name(2))
	l := newLife(Header{First: 3, Salt: 1}, 8)
	l.records(3, 1, false, 0)
	whole := newLife(Header{First: 3, Salt: 1}, 8)
	whole.records(3, 1, false, 0)
	at := whole.records(4, 2, false, 3)
	must(t, os.WriteFile(path, l.data, 0o600))
	f := follower(t, dir)
	for n := at; n <= whole.pos; n++ {
		copy(l.data, whole.data[:n])
		must(t, os.WriteFile(path, l.data, 0o600))
		if n == whole.pos || bytes.Equal(l.data[at:whole.pos], whole.data[at:whole.pos]) {
			break
		}
		step(t, "torn", f, 4, 0, false)
	}
	step(t, "whole", f, 4, 2, false)
	must(t, os.Truncate(path, at))
	step(t, "cut short by somebody", f, 6, 0, false)
}

// TestFollowMoved: records that were read while the journal began another life
// are not believed.
func TestFollowMoved(t *testing.T) {
	dir := t.TempDir()
	l := newLife(Header{First: 3, Salt: 1}, 8)
	must(t, os.WriteFile(filepath.Join(dir, Name(2)), l.data, 0o600))
	f := follower(t, dir)
	l.records(3, 2, false, 0)
	for _, h := range []Header{{First: 3, Salt: 1, Generation: 1}, {First: 9, Salt: 2}} {
		l.h = Header{Width: testWidth, First: h.First, Salt: h.Salt, Generation: h.Generation}
		l.header()
		must(t, os.WriteFile(filepath.Join(dir, Name(2)), l.data, 0o600))
		if rows, _, err := f.Next(nil); !errors.Is(err, ErrMoved) || len(rows) > 0 || f.Seq() != 3 {
			t.Errorf("under another header: %x, %v, at %d", rows, err, f.Seq())
		}
	}
	clear(l.data[:FramesAt])
	must(t, os.WriteFile(filepath.Join(dir, Name(2)), l.data, 0o600))
	if _, _, err := f.Next(nil); !errors.Is(err, ErrMoved) {
		t.Errorf("without a header: %v", err)
	}
	l.h = Header{Width: testWidth, First: 3, Salt: 1}
	l.header()
	must(t, os.WriteFile(filepath.Join(dir, Name(2)), l.data, 0o600))
	step(t, "its own header", f, 3, 2, false)
}
