package stream

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
)

// room leaves so many free bytes on a disk.
func room(t *testing.T, d *sim.Disk, bytes int64) {
	t.Helper()
	d.SetCapacity(math.MaxInt64)
	free := must[int64](t)(d.FS().Free("/"))
	d.SetCapacity(math.MaxInt64 - free + bytes)
}

// holds checks that a stream is not poisoned and holds whole batches up to end.
func holds(t *testing.T, s *Stream, end Seq, when string) {
	t.Helper()
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	if err := checkSnapshot(n); err != nil || n.End() != end {
		t.Fatalf("%s: the stream ends at %d, %v; want %d", when, n.End(), err, end)
	}
	if st := must[Stats](t)(s.Stats()); st.Poisoned || st.NextSeq != end {
		t.Fatalf("%s: %+v", when, st)
	}
}

func leftovers(t *testing.T, d *sim.Disk) {
	t.Helper()
	for _, line := range listing(t, d) {
		if name, _, _ := strings.Cut(line, " "); strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestNoRoom: with a full disk each thing that needs room is ErrNoSpace, again
// and again, and nothing is lost; with room it works, without opening the stream
// again.
func TestNoRoom(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 4)
			put(t, s, 8)
			quiet(t, s)
			// What is kept back for retention is used up: see TestRetainOnFullDisk.
			if err := s.fsys.Remove(filepath.Join(s.dir, meta.Reserve)); err != nil {
				t.Fatal(err)
			}
			room(t, d, 0)
			put(t, s, 3)
			for range 2 {
				if err := s.Seal(); !errors.Is(err, ErrNoSpace) {
					t.Fatalf("Seal: %v, want ErrNoSpace", err)
				}
				if got, err := s.Retain(retention.Policy{BeforeSeq: 8}, true); err != nil || len(got) != 2 {
					t.Fatalf("dry Retain = %v, %v", got, err)
				}
				if _, err := s.Retain(retention.Policy{BeforeSeq: 8}, false); !errors.Is(err, ErrNoSpace) {
					t.Fatalf("Retain: %v, want ErrNoSpace", err)
				}
				holds(t, s, 11, "on a full disk")
			}
			end := fill(t, s, 11)
			for range 3 {
				if _, _, err := s.Append(stamped(uint64(end), 2)); !errors.Is(err, ErrNoSpace) {
					t.Fatalf("Append: %v, want ErrNoSpace", err)
				}
				holds(t, s, end, "with all journals full")
			}
			if err := s.Sync(); err != nil { // the journals are there
				t.Fatalf("Sync: %v", err)
			}
			if st := must[Stats](t)(s.Stats()); st.SealErrors == 0 || st.DurableSeq != end {
				t.Fatalf("the figures are %+v", st)
			}
			leftovers(t, d)
			room(t, d, 1<<20)
			put(t, s, 2, 8)
			if err := s.Seal(); err != nil {
				t.Fatal(err)
			}
			must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 8}, false))
			holds(t, s, end+10, "with room")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			leftovers(t, d)
			recovers(t, d, end+10, "opened again")
		})
	}
}

// fill appends one record at a time until there is no room for one.
func fill(t *testing.T, s *Stream, next Seq) (end Seq) {
	t.Helper()
	for range 1000 {
		_, _, err := s.Append(stamped(uint64(next), 1))
		if errors.Is(err, ErrNoSpace) {
			return next
		}
		if err != nil {
			t.Fatal(err)
		}
		next++
	}
	t.Fatal("a full disk takes a thousand records")
	return 0
}

// TestNoRoomToEnd: a stream is closed, opened and recovered on a full disk, or
// says ErrNoSpace; with room all is there.
func TestNoRoomToEnd(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 4)
			put(t, s, 8)
			quiet(t, s)
			room(t, d, 0)
			end := fill(t, s, 8)
			killed := d.Kill()
			if err := s.Close(); err != nil { // what can't be sealed stays in its journal
				t.Fatal(err)
			}
			for when, d := range map[string]*sim.Disk{"closed": d, "killed": killed} {
				room(t, d, 0)
				for range 3 {
					s, err := OpenOn(d.FS(), "/s", OpenOptions{})
					if err == nil {
						holds(t, s, end, when)
						err = s.Close()
					}
					if err != nil && (when == "closed" || !errors.Is(err, ErrNoSpace)) {
						t.Fatalf("%s: %v", when, err)
					}
				}
				room(t, d, 1<<20)
				recovers(t, d, end, when)
			}
		})
	}
}

// TestNoRoomToBegin: a stream that can't be made for want of room is made when
// there is some, at each number of free bytes.
func TestNoRoomToBegin(t *testing.T) {
	failed := 0
	for bytes := int64(0); bytes < 16<<10; bytes += 512 {
		d := sim.New()
		d.SetCapacity(bytes)
		o := Options{Schema: stampSchema, Capacity: 4, Durability: Sealed}
		s, err := CreateOn(d.FS(), "/s", o)
		if err != nil {
			failed++
			if !errors.Is(err, ErrNoSpace) {
				t.Fatalf("%d bytes: %v, want ErrNoSpace", bytes, err)
			}
			d.SetCapacity(1 << 20)
			if s, err = CreateOn(d.FS(), "/s", o); errors.Is(err, ErrExists) {
				s, err = OpenOn(d.FS(), "/s", OpenOptions{})
			}
		}
		if err != nil {
			t.Fatalf("%d bytes, then a megabyte: %v", bytes, err)
		}
		d.SetCapacity(1 << 20)
		put(t, s, 3, 8)
		holds(t, s, 11, "made")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Fatal("there was always room")
	}
}

// TestLimits: a quota and a limit on the size of files are a want of room, too;
// other errors of a new file can be tried again as well.
func TestLimits(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			d, s := onSim(t, Sealed, 4)
			put(t, s, 3)
			quiet(t, s)
			fail := func(op sim.Op) bool {
				return op.Kind == sim.OpWrite && strings.HasSuffix(filepath.Base(op.Path), ".seg.tmp")
			}
			failFirst(d, fail, &sim.ShortWrite{N: 100, Err: errno})
			if err := s.Seal(); !errors.Is(err, errno) || errors.Is(err, ErrNoSpace) != (errno != syscall.EIO) {
				t.Fatalf("Seal: %v", err)
			}
			holds(t, s, 3, "after the failure")
			if err := s.Seal(); err != nil {
				t.Fatalf("Seal again: %v", err)
			}
			leftovers(t, d)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			recovers(t, d, 3, "again")
		})
	}
}

// TestSealIsTriedAgain: a segment whose sealing failed is tried again, unasked,
// when the next one is full.
func TestSealIsTriedAgain(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 4)
			defer s.Close()
			put(t, s, 3)
			failFirst(d, func(op sim.Op) bool { return op.Kind == sim.OpCreate && strings.HasSuffix(op.Path, ".seg.tmp") }, syscall.ENOSPC)
			put(t, s, 1)
			until(t, "the seal to fail", func() bool { return must[Stats](t)(s.Stats()).SealErrors == 1 })
			put(t, s, 4)
			until(t, "both to be sealed", func() bool { return must[Stats](t)(s.Stats()).Seals == 2 })
			holds(t, s, 8, "sealed")
		})
	}
}
