package dictionary

import (
	"testing"

	"example.com/ledger/schema"
)

// TestSteps: decimals of a symbol grow with what is seen of it, and no further.
func TestSteps(t *testing.T) {
	s, err := schema.New(0, schema.Field{Name: "px", Kind: schema.I64, Scale: 8}, schema.Field{Name: "qty", Kind: schema.U32, Scale: 3},
		schema.Field{Name: "sym", Kind: schema.U16})
	if err != nil {
		t.Fatal(err)
	}
	d := New([16]byte{1})
	for _, text := range []string{"A", "B"} {
		if _, err := d.Assign(SymbolField, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.SetTick(SymbolField, "B", "0.25"); err != nil {
		t.Fatal(err)
	}
	y := NewSteps(s, d)
	for _, c := range []struct {
		px, qty int64
		sym     uint64
		want    Entry
		bad     bool
	}{
		{px: 100000000, qty: 5000, sym: 1, want: Entry{Text: "A"}},
		{px: 0, qty: 0, sym: 1, want: Entry{Text: "A"}},
		{px: -110000000, qty: 5000, sym: 1, want: Entry{Text: "A", PxScale: 1}},
		{px: 100000010, qty: 5010, sym: 1, want: Entry{Text: "A", PxScale: 7, QtyScale: 2}},
		{px: 200000000, qty: 1, sym: 1, want: Entry{Text: "A", PxScale: 7, QtyScale: 3}},
		{px: 50000000, qty: 1000, sym: 2, want: Entry{Text: "B", PxScale: 1, Tick: "0.25"}},
		{px: 51000000, qty: 1000, sym: 2, want: Entry{Text: "B", PxScale: 1, Tick: "0.25"}, bad: true},
		{px: 1, qty: 1, sym: 3, want: Entry{Text: "B", PxScale: 1, Tick: "0.25"}}, // has no text
	} {
		rec := make([]byte, s.Width())
		for i, v := range []int64{c.px, c.qty, int64(c.sym)} {
			if err := s.PutInt(rec, i, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := y.See(rec); (err != nil) != c.bad {
			t.Errorf("%+v: %v", c, err)
		}
		if got := d.Entry(SymbolField, min(c.sym, 2)); got != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	plain, err := schema.New(0, schema.Field{Name: "px", Kind: schema.I64})
	if err != nil {
		t.Fatal(err)
	}
	if NewSteps(plain, d) != nil {
		t.Error("a stream without symbols has steps")
	}
}
