package stream

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/retention"
)

func openAll(t *testing.T, dir string) (first, end Seq, rows []byte) {
	t.Helper()
	r := must[*Reader](t)(OpenReader(dir))
	defer r.Close()
	n := must[*Snapshot](t)(r.Snapshot())
	defer n.Close()
	return n.First(), n.End(), all(t, n)
}

// TestBackup: a copy beside a live writer holds what the stream held; the next
// run brings what is new, the last segment again as it has grown, and no more.
func TestBackup(t *testing.T) {
	sch := small(t)
	root := t.TempDir()
	dir, dest := filepath.Join(root, "s"), filepath.Join(root, "b", "copy")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	var want []byte
	add := func(id, n int) {
		t.Helper()
		b := recs(sch, id, n)
		if _, _, err := s.Append(b); err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	back := func(copied, kept int) {
		t.Helper()
		r, err := Backup(context.Background(), dir, dest)
		if err != nil || r.Copied != copied || r.Kept != kept {
			t.Fatalf("Backup = %+v, %v; want %d copied, %d kept", r, err, copied, kept)
		}
		if _, _, got := openAll(t, dest); !bytes.Equal(got, want) {
			t.Fatalf("the copy holds %d bytes, want %d", len(got), len(want))
		}
	}
	back(0, 0)
	add(1, 6)
	add(2, 4) // 4, 4, and 2 in memory
	s.mu.Lock()
	err := s.drain(8)
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	back(3, 0)
	back(0, 3)
	add(3, 1)
	back(1, 2) // the last one has grown
	add(4, 1)
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	back(1, 2) // it is full now
	back(0, 3)
	if _, err := s.Retain(retention.Policy{BeforeSeq: 8}, false); err != nil {
		t.Fatal(err)
	}
	add(5, 2)
	back(1, 1) // the copy keeps what the stream has dropped
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	capacity := 16
	if _, err := Alter(dir, Change{Capacity: &capacity}, OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	back(0, 2)

	// A copy that goes its own way is no target any more.
	c := must[*Stream](t)(Open(dest, OpenOptions{}))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Backup(context.Background(), dir, dest); !errors.Is(err, ErrExists) {
		t.Fatalf("Backup over a copy that was written: %v, want ErrExists", err)
	}
	other := filepath.Join(root, "other")
	o := must[*Stream](t)(Create(other, Options{Schema: sch}))
	defer o.Close()
	if _, err := Backup(context.Background(), dir, other); !errors.Is(err, ErrLocked) {
		t.Fatalf("Backup over a live stream: %v, want ErrLocked", err)
	}
}

// TestAlter: what a stream is changes from here on, and only by what Create
// would take; raising the durability syncs what was not.
func TestAlter(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4, Durability: Os}))
	want := recs(sch, 1, 6)
	if _, _, err := s.Append(want); err != nil {
		t.Fatal(err)
	}
	if _, err := Alter(dir, Change{}, OpenOptions{}); !errors.Is(err, ErrLocked) {
		t.Fatalf("beside a writer: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mode, capacity, every := Commit, 3, time.Duration(0)
	policy := retention.Policy{KeepRecords: 100}
	info := must[Info](t)(Alter(dir, Change{Durability: &mode, Capacity: &capacity, SyncEvery: &every, Retention: &policy}, OpenOptions{}))
	if info.Durability != Commit || info.Capacity != 3 || info.Retention.KeepRecords != 100 {
		t.Fatalf("Alter = %+v", info)
	}
	bad := -5
	if _, err := Alter(dir, Change{Capacity: &bad}, OpenOptions{}); !errors.Is(err, ErrOption) {
		t.Fatalf("capacity -5: %v, want ErrOption", err)
	}
	s = must[*Stream](t)(Open(dir, OpenOptions{Durability: &mode}))
	defer s.Close()
	b := recs(sch, 2, 5)
	if first, _, err := s.Append(b); err != nil || first != 6 {
		t.Fatalf("Append = %d, %v; want 6", first, err)
	}
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	if got := all(t, n); !bytes.Equal(got, append(want, b...)) {
		t.Fatalf("%x, want %x", got, append(want, b...))
	}
	if size := must[disk.Entry](t)(disk.OS().Stat(filepath.Join(dir, "journal.0"))).Size; size != 4096+3*(24+16)+16 {
		t.Errorf("journal.0 has %d bytes, want those of a capacity of 3", size)
	}
}

// TestRemove: a stream goes, and only the stream.
func TestRemove(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 2}))
	if _, _, err := s.Append(recs(sch, 1, 4)); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); !errors.Is(err, ErrLocked) {
		t.Fatalf("beside a writer: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, []byte("mine"), 0o640); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("not yours"), 0o640); err != nil {
		t.Fatal(err)
	}
	last := filepath.Join(dir, "journal.3")
	if err := os.Remove(last); err != nil && !errors.Is(err, os.ErrNotExist) { // it is made if the sealer is slow
		t.Fatal(err)
	}
	if err := os.Symlink(outside, last); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{foreign, outside} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s: %v", kept, err)
		}
	}
	if err := Remove(dir); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a second time: %v, want ErrNotFound", err)
	}
}
