package faults

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/retention"
	"example.com/ledger/stream"
)

// Cases that the campaign has found, each as small as it could be made.

// fill appends batches of the given sizes.
func fill(t testing.TB, s *stream.Stream, sizes ...int) {
	t.Helper()
	for _, n := range sizes {
		end := s.Cursors().Appended
		if _, _, err := s.AppendAt(end, Batch(uint64(end), n)); err != nil {
			t.Fatal(err)
		}
	}
}

// await waits until a name is there, or is not there.
func await(t testing.TB, path string, there bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		_, err := os.Stat(path)
		if there == !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: there: %t", path, !there)
		}
	}
}

// TestSyncBesideRetention: a Sync of an Os stream that finds a file gone which
// retention has taken meanwhile has not failed.
func TestSyncBesideRetention(t *testing.T) {
	dir := filepath.Join(scratch(t), "s")
	var s *stream.Stream
	var once sync.Once
	fsys := Hooked(disk.OS(), func(op, path string) {
		if op == "open" && strings.HasSuffix(path, ".seg") {
			once.Do(func() {
				dropped, err := s.Retain(retention.Policy{BeforeSeq: 16}, false)
				if err != nil || len(dropped) != 2 {
					t.Errorf("retain: %v, %v", dropped, err)
				}
			})
		}
	})
	s, err := stream.CreateOn(fsys, dir, stream.Options{Schema: Schema(), Capacity: Capacity, Durability: stream.Os})
	check(t, err)
	fill(t, s, 8, 8, 8, 3)
	await(t, filepath.Join(dir, "00000000000000000016.seg"), true)
	check(t, s.Sync())
	fill(t, s, 2)
	if _, err := os.Stat(filepath.Join(dir, "00000000000000000000.seg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was dropped: %v", err)
	}
	check(t, s.Close())
}

// TestReaderBehindSealedHalf: after a power loss a sealed file may be all that
// proves a batch of a Commit stream to be durable whose end is in a journal. A
// reader sees the whole batch, and none that was not proved.
func TestReaderBehindSealedHalf(t *testing.T) {
	for _, sizes := range [][]int{{5, 6}, {5, 16}, {8}, {5, 6, 1}, {5, 3, 1}} {
		dir := filepath.Join(scratch(t), "s")
		s, err := stream.Create(dir, stream.Options{Schema: Schema(), Capacity: Capacity})
		check(t, err)
		fill(t, s, sizes...)
		sealed, want := 0, 0 // of the batch that the last sealed record is of, the end
		for _, n := range sizes {
			sealed += n
		}
		for _, n := range sizes {
			if want < sealed/Capacity*Capacity {
				want += n
			}
		}
		await(t, filepath.Join(dir, segmentName(sealed/Capacity*Capacity-Capacity)), true)
		after := filepath.Join(scratch(t), "after")
		copyFiles(t, after, dir)
		check(t, s.Close())
		forget(t, after)
		r, err := stream.OpenReader(after)
		check(t, err)
		n, err := r.Snapshot()
		check(t, err)
		if err := Read(n, false, nil); err != nil || int(n.End()) != want {
			t.Errorf("%v: the reader's end is %d, want %d: %v", sizes, n.End(), want, err)
		}
		check(t, n.Close())
		check(t, r.Close())
	}
}

// TestReopenBesideForks: a process that is being forked has copies of all
// descriptors. They don't keep a stream locked that was closed.
func TestReopenBesideForks(t *testing.T) {
	dir := filepath.Join(scratch(t), "s")
	s, err := stream.Create(dir, stream.Options{Schema: Schema(), Capacity: Capacity, Durability: stream.Os})
	check(t, err)
	stop := make(chan struct{})
	var forks sync.WaitGroup
	for range 2 {
		forks.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command(os.Args[0], "-test.list=^$").Run()
				}
			}
		})
	}
	defer forks.Wait()
	defer close(stop)
	for i := range 200 {
		check(t, s.Close())
		if s, err = stream.Open(dir, stream.OpenOptions{}); err != nil {
			t.Fatalf("open %d: %v", i, err)
		}
	}
	check(t, s.Close())
}

// forget takes away what is never synced: marks and the cursors page.
func forget(t testing.TB, dir string) {
	t.Helper()
	check(t, os.Truncate(filepath.Join(dir, "cursors"), 0))
	for n := range journal.Ring {
		path := filepath.Join(dir, journal.Name(n))
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		check(t, err)
		h, ok, err := journal.DecodeHeaders(b)
		check(t, err)
		if !ok {
			continue
		}
		scan, err := journal.Read(n, bytes.Clone(b), h, Capacity)
		check(t, err)
		clear(b[scan.Stop : scan.Stop+journal.FrameSize])
		check(t, os.WriteFile(path, b, 0o640))
	}
}
