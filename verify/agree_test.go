package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// TestCrashesAreNoDamage: what a crash leaves of a Commit stream is no problem.
// What it leaves of a Sealed or Os stream is one only if records are lost, as
// the engine then says, too. The engine opens all of it, and verify finds it
// clean afterwards.
func TestCrashesAreNoDamage(t *testing.T) {
	var images, losses atomic.Int64
	t.Run("modes", func(t *testing.T) {
		for _, m := range []struct {
			durability stream.Durability
			layout     segment.Layout
			sector     int // bytes; small ones tear headers
		}{
			{stream.Commit, segment.Columns, 512}, {stream.Commit, segment.Rows, 8},
			{stream.Sealed, segment.Columns, 8}, {stream.Sealed, segment.Rows, 512},
			{stream.Os, segment.Columns, 512}, {stream.Os, segment.Rows, 512},
		} {
			t.Run(fmt.Sprintf("%v,%v,%d", m.durability, m.layout, m.sector), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(6) {
					n, lost := crashes(t, m.durability, m.layout, m.sector, seed)
					images.Add(int64(n))
					losses.Add(int64(lost))
				}
			})
		}
	})
	if images.Load() < 400 || losses.Load() == 0 {
		t.Fatalf("%d images, %d with a loss: the test saw too little", images.Load(), losses.Load())
	}
}

// crashes lives one life of a stream with crashes at random operations.
func crashes(t *testing.T, mode stream.Durability, layout segment.Layout, sector int, seed uint64) (images, losses int) {
	rng := rand.New(rand.NewPCG(seed, uint64(mode)))
	d := sim.NewSectors(sector)
	s := theFields()
	st, err := stream.CreateOn(d.FS(), "s", stream.Options{Schema: s, Capacity: capacity, Durability: mode, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for range 4 {
		var left atomic.Int64 // the engine works on several goroutines
		left.Store(int64(20 + rng.IntN(150)))
		d.SetHook(func(op sim.Op) error {
			if op.Kind.Changes() {
				if left.Add(-1) <= 0 {
					return sim.ErrCrashed
				}
			}
			return nil
		})
		for err == nil {
			n := 1 + rng.IntN(2*capacity)
			_, _, err = st.Append(records(s, next, n))
			next += n
			switch rng.IntN(8) {
			case 0:
				err = errors.Join(err, st.Seal())
			case 1:
				err = errors.Join(err, st.Sync())
			case 2:
				_, rerr := st.Retain(retention.Policy{KeepRecords: 20}, false)
				err = errors.Join(err, rerr)
			}
		}
		_ = st.Close()
		d.SetHook(nil)
		for i := range 4 {
			image := d.Kill()
			if i > 0 {
				image = d.CutRandom(rng, []float64{0, 0.5, 0.9}[i-1])
			}
			images++
			lost, end := agree(t, mode, image, fmt.Sprintf("seed %d, image %d", seed, images))
			losses += lost
			if i == 3 {
				d, next = image, int(end)
			}
		}
		if st, err = stream.OpenOn(d.FS(), "s", stream.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_ = st.Close()
	return images, losses
}

// agree compares what verify and the engine say of an image. It leaves the image
// as the engine left it.
func agree(t *testing.T, mode stream.Durability, image *sim.Disk, what string) (lost int, end stream.Seq) {
	t.Helper()
	r, err := verify.StreamOn(context.Background(), image.FS(), "s", nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !r.OK && mode == stream.Commit {
		t.Fatalf("%s: a crash is damage:\n%s", what, text(r))
	}
	st, err := stream.OpenOn(image.FS(), "s", stream.OpenOptions{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, text(r))
	}
	rep := st.Report()
	if !r.OK && len(rep.Lost) == 0 && len(rep.SetAside) == 0 {
		t.Fatalf("%s: problems, but the engine lost nothing: %+v\n%s", what, rep, text(r))
	}
	if len(rep.Lost) > 0 {
		lost = 1
		if r.OK {
			t.Fatalf("%s: no problem, but the engine lost %v\n%s", what, rep.Lost, text(r))
		}
	}
	end = st.Cursors().Appended
	if err := st.Close(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	after, err := verify.StreamOn(context.Background(), image.FS(), "s", nil)
	if err != nil || !after.OK {
		t.Fatalf("%s: after the engine: %v\n%s", what, err, text(after))
	}
	return lost, end
}
