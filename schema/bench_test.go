package schema

import (
	"fmt"
	"testing"
)

func fill(t testing.TB) *Schema {
	s, err := New(Nanosecond,
		Field{"px", I32, 2}, Field{"qty", I32, 0}, Field{"taker", U32, 0}, Field{"maker", U32, 0},
		Field{"sym", U16, 0}, Field{"side", U8, 0}, Field{"flags", U8, 0})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkClearPadding(b *testing.B) {
	s := fill(b)
	for _, n := range []int{1, 256} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			recs := make([]byte, n*s.Width())
			b.SetBytes(int64(len(recs)))
			b.ReportAllocs()
			for b.Loop() {
				s.ClearPadding(recs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/row")
		})
	}
}

// BenchmarkInt and BenchmarkPutInt go over all seven fields of a fill.
func BenchmarkInt(b *testing.B) {
	s, rec := fill(b), make([]byte, 40)
	var sum int64
	for b.Loop() {
		for i := range s.NumFields() {
			sum += s.Int(rec, i)
		}
	}
	if sum != 0 {
		b.Fatal("an empty record has values")
	}
}

func BenchmarkPutInt(b *testing.B) {
	s, rec := fill(b), make([]byte, 40)
	b.ReportAllocs()
	for b.Loop() {
		for i := range s.NumFields() {
			if err := s.PutInt(rec, i, 100); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecimal(b *testing.B) {
	buf := make([]byte, 0, 32)
	b.Run("op=append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendDecimal(buf[:0], 6412350, 2)
		}
	})
	b.Run("op=parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseDecimal("64123.50", I32, 2); err != nil {
				b.Fatal(err)
			}
		}
	})
}
