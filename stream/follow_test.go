package stream

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/sim"
)

// A listed disk counts how often a directory is listed through it.
type listed struct {
	disk.FS
	lists int
}

func (l *listed) ReadDir(path string) ([]disk.Entry, error) {
	l.lists++
	return l.FS.ReadDir(path)
}

// TestReaderFollows: a reader beside the writer sees every batch whole and in
// order, over rolls, without looking at everything for each.
func TestReaderFollows(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := sim.New()
			sch := small(t)
			s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 64, Durability: mode}))
			defer s.Close()
			own := &listed{FS: d.FS()} // the reader's: what the writer does beside it doesn't count
			r := must[*Reader](t)(OpenReaderOn(own, "/s"))
			defer r.Close()
			var want []byte
			looks := 0
			for i := range 300 {
				b := recs(sch, i, 1+i%3)
				if _, _, err := s.Append(b); err != nil {
					t.Fatal(err)
				}
				want = append(want, b...)
				before := own.lists
				n := must[*Snapshot](t)(r.Snapshot())
				if own.lists > before {
					looks++
				}
				if got := all(t, n); !bytes.Equal(got, want) {
					t.Fatalf("after batch %d: %d bytes, want %d", i, len(got), len(want))
				}
				n.Close()
			}
			// A full look is due when the journal changed: at a roll and at a seal.
			rolls := len(want) / sch.Width() / 64
			if most := 3 * (rolls + 1); looks > most || looks < rolls {
				t.Errorf("%d of 300 snapshots looked at everything, want %d to %d", looks, rolls, most)
			}
		})
	}
}

// TestReaderTail: a tail beside the writer yields every record once, in order.
func TestReaderTail(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 100, Durability: Sealed}))
	defer s.Close()
	r := must[*Reader](t)(OpenReaderOn(disk.OS(), dir))
	defer r.Close()
	const total = 5000
	go func() {
		for i := 0; i < total; i += 5 {
			if _, _, err := s.Append(recs(sch, i, 5)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	next := Seq(0)
	for b, err := range r.Tail(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.First() != next {
			t.Fatalf("batch begins at %d, want %d", b.First(), next)
		}
		if next = b.End(); next == total {
			break
		}
	}
}
