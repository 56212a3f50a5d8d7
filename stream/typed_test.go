package stream

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"example.com/ledger/shapes"
)

type goodFill struct {
	Seq          uint64
	When         int64
	Price, Size  int32
	Taker, Maker uint32
	Symbol       uint16
	Side         shapes.Side // a named type of the kind
	Flags        uint8
	_            [4]byte
}

func TestBind(t *testing.T) {
	s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: shapes.FillSchema()}))
	defer s.Close()
	if _, err := Bind[goodFill](s); err != nil {
		t.Errorf("a struct that is the record: %v", err)
	}
	if _, err := Bind[shapes.Fill](s); err != nil {
		t.Errorf("the shape's own struct: %v", err)
	}
	type unpadded struct {
		Seq          uint64
		TS           int64
		Px, Qty      int32
		Taker, Maker uint32
		Sym          uint16
		Side         uint8
	}
	type otherKind struct {
		Seq          uint64
		TS           int64
		Px, Qty      uint32
		Taker, Maker uint32
		Sym          uint16
		Side, Flags  uint8
		_            [4]byte
	}
	type otherPlace struct {
		Seq          uint64
		TS           int64
		Px, Qty      int32
		Taker, Maker uint32
		Sym          uint16
		_            [2]byte
		Side, Flags  uint8
		_            [2]byte
	}
	type withPointer struct {
		Seq uint64
		TS  *int64
	}
	for name, err := range map[string]error{
		"too few fields": bound[unpadded](s), "another kind": bound[otherKind](s), "another place": bound[otherPlace](s), "a pointer": bound[withPointer](s),
		"no struct": bound[int](s), "an array": bound[[5]int64](s), "a string": bound[struct{ S string }](s),
	} {
		if !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v, want ErrOption", name, err)
		}
	}
}

func bound[T any](s *Stream) error {
	_, err := Bind[T](s)
	return err
}

// TestTyped: structs go in without a copy, stamped in place, and come back over
// segments as they were.
func TestTyped(t *testing.T) {
	for _, mode := range modes {
		s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: shapes.FillSchema(), Capacity: 7, Durability: mode}))
		fills := must[Typed[shapes.Fill]](t)(Bind[shapes.Fill](s))
		var want []shapes.Fill
		for i := range 20 {
			batch := make([]shapes.Fill, 1+i%5)
			for k := range batch {
				batch[k] = shapes.Fill{Seq: 99, TS: int64(i), Px: int32(i * k), Qty: -1, Maker: 1 << 31, Sym: uint16(i)}
			}
			first, n, err := fills.Append(batch)
			if err != nil || n != len(batch) || uint64(first) != batch[0].Seq {
				t.Fatalf("Append = %d, %d, %v; the first is stamped %d", first, n, err, batch[0].Seq)
			}
			want = append(want, batch...)
		}
		if _, _, err := fills.AppendAt(3, want[:1]); !errors.Is(err, ErrSeqMismatch) {
			t.Errorf("AppendAt(3): %v, want ErrSeqMismatch", err)
		}
		n := must[*Snapshot](t)(s.Snapshot())
		for from := range len(want) {
			dst := make([]shapes.Fill, 11)
			k, err := fills.Read(dst, n, Seq(from))
			if err != nil || !slices.Equal(dst[:k], want[from:min(from+11, len(want))]) {
				t.Fatalf("Read from %d = %d, %v", from, k, err)
			}
		}
		n.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTypedOnce: a numbered batch of values is appended once; a stream that is too
// small for that says how large it must be.
func TestTypedOnce(t *testing.T) {
	for _, capacity := range []int{windowLeast(40) - 1, windowLeast(40)} {
		s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: shapes.FillSchema(), Capacity: capacity}))
		fills := must[Typed[shapes.Fill]](t)(Bind[shapes.Fill](s))
		for range 2 {
			first, n, err := fills.AppendOnce(ProducerID{1}, 7, []shapes.Fill{{Px: 1}, {Px: 2}})
			if capacity < windowLeast(40) {
				if !errors.Is(err, ErrOption) || !strings.HasSuffix(err.Error(), fmt.Sprint(windowLeast(40))) {
					t.Errorf("capacity %d: %v, want ErrOption and the least capacity", capacity, err)
				}
			} else if first != 0 || n != 2 || err != nil {
				t.Errorf("AppendOnce = %d, %d, %v; want 0, 2", first, n, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllocs: what is done for every record allocates nothing.
func TestAllocs(t *testing.T) {
	for _, mode := range []Durability{Sealed, Os} {
		s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: shapes.FillSchema(), Durability: mode, Capacity: 4096}))
		fills := must[Typed[shapes.Fill]](t)(Bind[shapes.Fill](s))
		rec := make([]shapes.Fill, 1)
		if got := testing.AllocsPerRun(1000, func() {
			if _, _, err := fills.Append(rec); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%v: an append allocates %v times", mode, got)
		}
		if got := testing.AllocsPerRun(100, func() {
			n, err := s.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			n.Close()
		}); got > 1 {
			t.Errorf("%v: a snapshot allocates %v times, want at most 1", mode, got)
		}
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		n := must[*Snapshot](t)(s.Snapshot())
		buf := make([]byte, 0, unsafe.Sizeof(rec[0]))
		if got := testing.AllocsPerRun(1000, func() {
			if _, err := n.Get(buf, 500); err != nil {
				t.Fatal(err)
			}
		}); got != 0 && !eager {
			t.Errorf("%v: Get of a sealed record allocates %v times", mode, got)
		}
		n.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
