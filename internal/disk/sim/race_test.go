package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk"
)

// TestStoresAndSyncsAtOnce has what an engine does all at once: stores into a
// mapping while it is synced, read, and the disk is cut. Run with -race it
// proves that the model is none; without, that a sync covers what was stored
// before it.
func TestStoresAndSyncsAtOnce(t *testing.T) {
	const size, step = 8192, 64
	s := newScript(t, NewSectors(step))
	f := s.create("journal", "")
	s.must(disk.WriteZeros(f, size))
	s.must(f.Sync())
	s.must(s.SyncDir("/"))
	m := s.mapped(f, size, true)

	var stored, synced atomic.Int64 // sectors
	var wg sync.WaitGroup
	wg.Go(func() {
		for at := range int64(size / step) {
			b := m.Bytes()[at*step : (at+1)*step]
			for i := 0; i < step; i += 8 {
				binary.LittleEndian.PutUint64(b[i:], uint64(at+1))
			}
			stored.Store(at + 1)
		}
	})
	for i := range 2 {
		f := s.openRW("journal")
		wg.Go(func() {
			for synced.Load() < size/step {
				before := stored.Load()
				if err := f.DataSync(); err != nil {
					t.Error(err)
					return
				}
				for {
					was := synced.Load()
					if was >= before || synced.CompareAndSwap(was, before) {
						break
					}
				}
			}
		})
		wg.Go(func() {
			b := make([]byte, step)
			for k := range 200 {
				if _, err := f.ReadAt(b, int64(k*step%size)); err != nil {
					t.Error(err)
					return
				}
				path := fmt.Sprintf("x%d.%d", i, k)
				if _, err := s.Create(path); err != nil {
					t.Error(err)
				}
				if err := errors.Join(s.Rename(path, path+"y"), s.SyncDir("/"), s.Remove(path+"y")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for synced.Load() < size/step {
			before := synced.Load()
			n := s.d.Cut(func(int) int { return 0 }).root.child("journal")
			for at := range before {
				if got := binary.LittleEndian.Uint64(n.data[at*step:]); got != uint64(at+1) {
					t.Errorf("sector %d of %d synced is %d after a cut", at, before, got)
					return
				}
			}
		}
	})
	wg.Wait()
	s.must(m.Unmap())
}

// TestDeadGoroutines: goroutines of a crashed process change nothing any more.
func TestDeadGoroutines(t *testing.T) {
	s := newScript(t, New())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := 0; ; k++ {
				path := fmt.Sprintf("f%d.%d", i, k)
				f, err := s.Create(path)
				if err == nil {
					_, err = f.WriteAt([]byte(path), 0)
				}
				if err == nil {
					err = errors.Join(f.Sync(), f.Close(), s.SyncDir("/"))
				}
				if errors.Is(err, ErrCrashed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for s.d.Ops() < 1000 {
		s.d.Notice()
	}
	s.d.Crash()
	was, pending := s.d.Sum(), len(s.d.Pending())
	wg.Wait()
	if s.d.Sum() != was || len(s.d.Pending()) != pending {
		t.Error("a dead process changed the disk")
	}
}

// BenchmarkImages: what an image costs, of a stream's usual small set of files,
// the disk being written on between images.
func BenchmarkImages(b *testing.B) {
	d := New()
	fsys := d.FS()
	var files []disk.File
	for i := range 12 {
		f, err := fsys.Create(fmt.Sprintf("journal.%d", i))
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(disk.WriteZeros(f, 8192), f.Sync()); err != nil {
			b.Fatal(err)
		}
		files = append(files, f)
	}
	if err := fsys.SyncDir("/"); err != nil {
		b.Fatal(err)
	}
	frame := make([]byte, 1024)
	for i := range frame {
		frame[i] = 1
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := files[i%4]
		if i%64 == 0 {
			_ = f.DataSync()
		}
		_, _ = f.WriteAt(frame, int64(i%7)*1024)
		d.Cut(func(n int) int { return i % n })
	}
}
