package verify_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// toDisk puts files into the directory s of a model disk, all on disk.
func toDisk(m memory) *sim.Disk {
	d := sim.New()
	f := d.FS()
	check(f.Mkdir("s"))
	check(f.SyncDir("/"))
	for name, b := range m {
		x := must(f.Create(filepath.Join("s", name)))
		if len(b) > 0 {
			must(x.WriteAt(b, 0))
		}
		check(x.Sync())
		check(x.Close())
	}
	check(f.SyncDir("s"))
	return d
}

// TestRepairCrashes: a repair that a crash interrupts before any operation that
// changes the disk, and that is begun again on whatever the crash left, ends as
// one that ran through. In between a writer may come: it refuses the stream, or
// what it reads is right.
func TestRepairCrashes(t *testing.T) {
	var images atomic.Int64
	t.Run("damages", func(t *testing.T) {
		for i, d := range damages() {
			if len(d.kinds) == 0 {
				continue
			}
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				dir, _ := d.kind.make(t)
				m := load(dir)
				d.do(t, m)
				for n := 1; ; n++ {
					disk := toDisk(m)
					left := n
					disk.SetHook(func(op sim.Op) error {
						if op.Kind.Changes() {
							if left--; left == 0 {
								return sim.ErrCrashed
							}
						}
						return nil
					})
					_, err := verify.RepairOn(context.Background(), disk.FS(), "s", true)
					if err == nil {
						return
					}
					if !errors.Is(err, sim.ErrCrashed) {
						t.Fatalf("operation %d: %v", n, err)
					}
					images.Add(1)
					image := disk.Kill()
					if n%4 > 0 {
						image = disk.CutRandom(rng, float64(n%4-1)/2)
					}
					again(t, d, image, n)
				}
			})
		}
	})
	if images.Load() < 500 {
		t.Fatalf("only %d images were tried", images.Load())
	}
}

// again repairs an image, by way of a writer that tries it on a copy.
func again(t *testing.T, d damage, image *sim.Disk, n int) {
	t.Helper()
	between(t, d, image.Kill(), n)
	rep, err := verify.RepairOn(context.Background(), image.FS(), "s", true)
	if err != nil || !rep.After.OK {
		t.Fatalf("crash at operation %d, then repair: %v\n%+v", n, err, rep)
	}
	got := readSim(t, image.FS())
	want := d.kind.remaining(t, append(append([][2]uint64{}, d.lost...), d.gone...))
	if string(got) != string(want) {
		t.Fatalf("crash at operation %d, then repair: records %v, want %v\n%v", n, numbers(t, got), numbers(t, want), rep.Actions)
	}
}

// between lets a writer open what a crash left of a repair.
func between(t *testing.T, d damage, image *sim.Disk, n int) {
	t.Helper()
	st, err := stream.OpenOn(image.FS(), "s", stream.OpenOptions{})
	if err != nil {
		if !errors.Is(err, stream.ErrCorrupt) && !errors.Is(err, stream.ErrNotFound) {
			t.Fatalf("crash at operation %d: open: %v", n, err)
		}
		return
	}
	v := must(st.Snapshot())
	rightRecords(t, v, n)
	check(v.Close())
	check(st.Close())
}

// rightRecords fails the test if a record is not the one that was appended.
func rightRecords(t *testing.T, v *stream.Snapshot, n int) {
	t.Helper()
	s := fields(t)
	for seq := v.First(); seq < v.End(); seq++ {
		rec, err := v.Get(nil, seq)
		if err != nil {
			if !errors.Is(err, stream.ErrDropped) && !errors.Is(err, stream.ErrCorrupt) {
				t.Fatalf("crash at operation %d: get %d: %v", n, seq, err)
			}
			continue
		}
		if string(rec) != string(records(s, int(seq), 1)) {
			t.Fatalf("crash at operation %d: record %d is %x", n, seq, rec)
		}
	}
}

func readSim(t *testing.T, fsys disk.FS) (rows []byte) {
	t.Helper()
	st, err := stream.OpenOn(fsys, "s", stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := must(st.Snapshot())
	for seq := v.First(); seq < v.End(); seq++ {
		if rows, err = v.Get(rows, seq); err != nil && !errors.Is(err, stream.ErrDropped) {
			t.Fatalf("get %d: %v", seq, err)
		}
	}
	check(v.Close())
	check(st.Close())
	return rows
}
