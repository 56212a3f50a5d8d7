package stream

import (
	"bytes"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// encoderRows are n records of stampSchema from first on.
func encoderRows(first uint64, n int) []byte {
	b := make([]byte, n*stampSchema.Width())
	for i := range n {
		schema.PutSeq(b[i*stampSchema.Width():], first+uint64(i))
		schema.PutTime(b[i*stampSchema.Width():], int64(first)*7+int64(i))
	}
	return b
}

// TestEncoder: whether a file was begun early, for another segment in vain, or not
// at all, it is what a writer of its own makes, and stays so while the next is made.
func TestEncoder(t *testing.T) {
	m := segment.Meta{ID: [16]byte{1}, Capacity: 64, Schema: stampSchema}
	var c encoder
	defer c.wait()
	for i, step := range []struct {
		first, next uint64 // next 0: none
		early       bool
	}{
		{first: 0, next: 64},
		{first: 64, next: 128, early: true},
		{first: 64, next: 128}, // tried again: what was begun is for another
		{first: 128, early: true},
		{first: 192, next: 512},
		{first: 256}, // not the one that was begun
		{first: 512}, // which is forgotten then
	} {
		rows := encoderRows(step.first, 64)
		var next []byte
		if step.next > 0 {
			next = encoderRows(step.next, 30)
		}
		if step.early {
			rows = encoderRows(step.first, 30)
		}
		if early := c.ahead != nil && c.ahead.first == step.first; early != step.early {
			t.Errorf("step %d: begun early %v, want %v", i, early, step.early)
		}
		e := c.get(m, segment.Columns, rows, next)
		if e.err != nil {
			t.Fatal(e.err)
		}
		c.wait()
		e.stamp(1_700_000_000_000, segment.FlagDurable)
		want, h, err := new(segment.Writer).Encode(m, segment.Columns, rows, 1_700_000_000_000, segment.FlagDurable)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(e.image, want) || e.header != h {
			t.Errorf("step %d: %+v, want %+v", i, e.header, h)
		}
	}
	if e := c.get(m, segment.Columns, append(encoderRows(1, 1), encoderRows(1, 1)...), nil); e.err == nil {
		t.Error("numbers that are not dense are taken")
	}
}
