package stream

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"example.com/ledger/shapes"
)

// TestRecords: a reader has records as values, sealed ones and those in a journal,
// behind what its slice holds already.
func TestRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: shapes.FillSchema(), Capacity: 7}))
	defer s.Close()
	fills := must[Typed[shapes.Fill]](t)(Bind[shapes.Fill](s))
	want := make([]shapes.Fill, 17)
	for i := range want {
		want[i] = shapes.Fill{Seq: uint64(i), TS: int64(i) * 3, Px: int32(-i), Qty: 1 << 30, Taker: 1 << 31, Sym: uint16(i), Side: 1}
	}
	for batch := range slices.Chunk(want, 5) {
		if _, _, err := fills.Append(batch); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, s)
	r := must[*Reader](t)(OpenReader(dir))
	defer r.Close()
	n := must[*Snapshot](t)(r.Snapshot())
	defer n.Close()
	got := []shapes.Fill{{Px: 77}}
	for b, err := range n.Range(n.First(), n.End()) {
		if err != nil {
			t.Fatal(err)
		}
		if got, err = Records(got, b); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got[1:], want) || got[0].Px != 77 {
		t.Errorf("read %v", got)
	}

	type short struct {
		Seq uint64
		TS  int64
	}
	for b := range n.Range(0, 3) {
		if out, err := Records([]short{{}}, b); !errors.Is(err, ErrOption) || len(out) != 1 {
			t.Errorf("into another struct: %v, %v", out, err)
		}
		buf := make([]shapes.Fill, 0, 3)
		if allocs := testing.AllocsPerRun(100, func() { buf, _ = Records(buf[:0], b) }); allocs > 0 && !eager {
			t.Errorf("into a slice with room: %v allocations", allocs)
		}
	}
	if out, err := Records[shapes.Fill](nil, Batch{}); err != nil || len(out) != 0 {
		t.Errorf("of no batch: %v, %v", out, err)
	}
}

// TestRecordsOfSeveralSchemas: what fits one stream's schema is compared with the next's.
func TestRecordsOfSeveralSchemas(t *testing.T) {
	type stamp struct {
		Seq uint64
		TS  int64
		V   int64
	}
	for range 2 {
		if err := fits[stamp](shapes.FillSchema()); !errors.Is(err, ErrOption) {
			t.Errorf("a fill: %v", err)
		}
		if err := fits[shapes.Fill](shapes.FillSchema()); err != nil {
			t.Errorf("a fill as a fill: %v", err)
		}
		if err := fits[shapes.Order](shapes.OrderSchema()); err != nil {
			t.Errorf("an order as an order: %v", err)
		}
		if err := fits[shapes.Fill](shapes.OrderSchema()); !errors.Is(err, ErrOption) {
			t.Errorf("an order as a fill: %v", err)
		}
	}
}
