package arrow

import (
	"errors"
	"path/filepath"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// every has a field of each kind, with and without a scale.
func every(t testing.TB, u schema.Unit) *schema.Schema {
	s, err := schema.New(u,
		schema.Field{Name: "a", Kind: schema.I8},
		schema.Field{Name: "b", Kind: schema.U8},
		schema.Field{Name: "c", Kind: schema.I16},
		schema.Field{Name: "d", Kind: schema.U16},
		schema.Field{Name: "e", Kind: schema.I32},
		schema.Field{Name: "f", Kind: schema.U32},
		schema.Field{Name: "g", Kind: schema.I64},
		schema.Field{Name: "h", Kind: schema.U64},
		schema.Field{Name: "i", Kind: schema.I8, Scale: 5},
		schema.Field{Name: "j", Kind: schema.U16, Scale: 1},
		schema.Field{Name: "k", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "l", Kind: schema.I64, Scale: 18},
		schema.Field{Name: "m", Kind: schema.U64, Scale: 9},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// batch makes n records with every bit pattern of each kind among them.
func batch(s *schema.Schema, from, n int) []byte {
	b := make([]byte, n*s.Width())
	for i := range n {
		rec := b[i*s.Width() : (i+1)*s.Width()]
		x := uint64(from+i) * 0x9E3779B97F4A7C15
		schema.PutTime(rec, int64(from+i)*1000)
		for f := range s.NumFields() {
			for j := range s.Field(f).Kind.Size() {
				rec[s.Offset(f)+j] = byte(x >> (8 * j))
			}
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	return b
}

// filled makes a stream with n records.
func filled(t testing.TB, o stream.Options, n int) *stream.Stream {
	t.Helper()
	if o.Durability == stream.Commit {
		o.Durability = stream.Os
	}
	s, err := stream.Create(filepath.Join(t.TempDir(), "s"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, stream.ErrClosed) {
			t.Error(err)
		}
	})
	for at := 0; at < n; at += 50 {
		if _, _, err := s.Append(batch(o.Schema, at, min(50, n-at))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func snapshot(t testing.TB, s *stream.Stream) *stream.Snapshot {
	t.Helper()
	v, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// rows returns the records [from, to) as the engine reads them.
func rows(t testing.TB, v *stream.Snapshot, from, to stream.Seq) []byte {
	t.Helper()
	var b []byte
	for batch, err := range v.Range(from, to) {
		if err != nil {
			t.Fatal(err)
		}
		if b, err = batch.Rows(b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// bits returns value i of an array as a field has it, whatever its type is.
func bits(t testing.TB, a apache.Array, i int) int64 {
	t.Helper()
	if a.IsNull(i) {
		t.Fatalf("value %d is null", i)
	}
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Decimal128:
		n := a.Value(i)
		if h := n.HighBits(); h != 0 && (h != -1 || int64(n.LowBits()) >= 0) {
			t.Fatalf("decimal %v is beyond 64 bits", n)
		}
		return int64(n.LowBits())
	}
	t.Fatalf("array of %v", a.DataType())
	return 0
}

// sameRecord fails unless row i of a batch, of all columns, is rec.
func sameRecord(t testing.TB, s *schema.Schema, b apache.RecordBatch, i int, rec []byte) {
	t.Helper()
	if got, want := bits(t, b.Column(0), i), int64(schema.Seq(rec)); got != want {
		t.Fatalf("row %d has seq %d, want %d", i, got, want)
	}
	if got, want := bits(t, b.Column(1), i), schema.Time(rec); got != want {
		t.Fatalf("record %d has ts %d, want %d", schema.Seq(rec), got, want)
	}
	for f := range s.NumFields() {
		if got, want := bits(t, b.Column(2+f), i), s.Int(rec, f); got != want {
			t.Fatalf("record %d has %s %d, want %d", schema.Seq(rec), s.Field(f).Name, got, want)
		}
	}
}

// sameRows reads all batches of r and fails unless they are the records.
func sameRows(t testing.TB, s *schema.Schema, r array.RecordReader, want []byte) (batches int) {
	t.Helper()
	for r.Next() {
		b := r.RecordBatch()
		batches++
		if b.NumRows() == 0 {
			t.Fatal("an empty batch")
		}
		for i := range int(b.NumRows()) {
			if len(want) == 0 {
				t.Fatalf("more rows than records")
			}
			sameRecord(t, s, b, i, want[:s.Width()])
			want = want[s.Width():]
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Fatalf("%d records are missing", len(want)/s.Width())
	}
	return batches
}
