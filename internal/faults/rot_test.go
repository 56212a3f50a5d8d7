package faults

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/stream"
)

// TestRot: frames of acknowledged batches rot in places where a stream is easily
// taken for torn: the last frame of a full journal that is not sealed yet, a
// re-journaled segment, and both halves of a batch that crosses a roll. A writer
// refuses and names the records; a reader's error names them, too.
func TestRot(t *testing.T) {
	for _, c := range []struct {
		name     string
		make     func(t *testing.T, dir string)
		first    uint64 // of the journal
		frame    int    // of it; -1 is the last
		from, to uint64 // what is named
	}{
		{"the last frame of a full journal", full8, 0, -1, 7, 8},
		{"the first frame of a full journal", full8, 0, 0, 0, 3},
		{"the half of a batch before a roll", across, 0, -1, 5, 8},
		{"the half of a batch behind a roll", across, 8, 0, 8, 12},
		{"the last frame of all", across, 8, -1, 12, 13},
		{"a re-journaled segment", again, 0, 0, 0, 6},
		{"behind a re-journaled segment", again, 0, -1, 6, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(scratch(t), "s")
			c.make(t, dir)
			rot(t, dir, c.first, c.frame)
			before := load(t, dir)
			_, err := stream.Open(dir, stream.OpenOptions{})
			e, ok := errors.AsType[*stream.CorruptError](err)
			if !ok || e.From > c.from || e.To < c.to {
				t.Errorf("open: %v, want an error that names [%d, %d)", err, c.from, c.to)
			}
			if after := load(t, dir); len(after) != len(before) {
				t.Errorf("open changed the directory to%s", listing(dir))
			}
			r, err := stream.OpenReader(dir)
			check(t, err)
			defer r.Close()
			n, err := r.Snapshot()
			check(t, err)
			defer n.Close()
			_, err = n.Get(nil, stream.Seq(c.from))
			if e, ok := errors.AsType[*stream.CorruptError](err); !ok || e.From > c.from || e.To <= c.from {
				t.Errorf("get %d: %v, want an error that names it", c.from, err)
			}
		})
	}
}

// seizure makes a copy of a stream's files while no segment can be sealed.
func seizure(t *testing.T, dir string, sizes ...int) {
	t.Helper()
	stuck := make(chan struct{})
	fsys := Hooked(disk.OS(), func(op, path string) {
		if op == "create" && strings.HasSuffix(path, ".seg.tmp") {
			<-stuck
		}
	})
	live := filepath.Join(scratch(t), "live")
	s, err := stream.CreateOn(fsys, live, stream.Options{Schema: Schema(), Capacity: Capacity})
	check(t, err)
	fill(t, s, sizes...)
	copyFiles(t, dir, live)
	close(stuck)
	check(t, s.Close())
}

func full8(t *testing.T, dir string) { seizure(t, dir, 3, 4, 1, 2) }

func across(t *testing.T, dir string) { seizure(t, dir, 5, 7, 1) }

// again makes a stream whose process died, was recovered, and died again.
func again(t *testing.T, dir string) {
	first := filepath.Join(scratch(t), "first")
	seizure(t, first, 2, 3, 1)
	s, err := stream.Open(first, stream.OpenOptions{})
	check(t, err)
	fill(t, s, 1)
	copyFiles(t, dir, first)
	check(t, s.Close())
}

// rot flips a bit in the records of a frame of the newest journal that begins at first.
func rot(t *testing.T, dir string, first uint64, frame int) {
	t.Helper()
	var best *journal.Scan
	for n := range journal.Ring {
		b, err := os.ReadFile(filepath.Join(dir, journal.Name(n)))
		if err != nil {
			continue
		}
		h, ok, err := journal.DecodeHeaders(b)
		check(t, err)
		if !ok || h.First != first || best != nil && best.Header.Generation > h.Generation {
			continue
		}
		best, err = journal.Read(n, b, h, Capacity)
		check(t, err)
	}
	if best == nil || len(best.Frames) == 0 {
		t.Fatalf("no journal begins at %d:%s", first, listing(dir))
	}
	if frame < 0 {
		frame += len(best.Frames)
	}
	best.Data[best.Frames[frame].Offset+journal.FrameSize+17] ^= 4
	check(t, os.WriteFile(filepath.Join(dir, journal.Name(best.N)), best.Data, 0o640))
}
