package source

import (
	"bytes"
	"testing"
	"time"
)

// TestGenerator: the records are the same however they are asked for, and have
// values that a fill can have.
func TestGenerator(t *testing.T) {
	whole, parts := make([]byte, 1000*Width), make([]byte, 1000*Width)
	NewGenerator().Fill(whole)
	g := NewGenerator()
	for _, cut := range [][2]int{{0, 1}, {1, 640}, {640, 1000}} {
		g.Fill(parts[cut[0]*Width : cut[1]*Width])
	}
	if !bytes.Equal(whole, parts) {
		t.Fatal("records made in parts are others")
	}
	for i := range 1000 {
		rec := whole[i*Width : (i+1)*Width]
		if Time(rec) != Begin+int64(i)*Step {
			t.Fatalf("record %d has time %d", i, Time(rec))
		}
		if q := Quantity(rec); q < 1 || q > 50 {
			t.Fatalf("record %d has quantity %d", i, q)
		}
	}
	if Begin%int64(time.Minute) != 0 {
		t.Fatal("the first record's minute is not a whole one")
	}
}

// TestRing: times go on where the ring comes round.
func TestRing(t *testing.T) {
	for _, batch := range []int{1, 16, 300, 4096} {
		r := NewRing(batch)
		n := int64(0)
		for range 20_000 / batch {
			for b := r.Next(batch); len(b) > 0; b = b[Width:] {
				if Time(b) != Begin+n*Step {
					t.Fatalf("batch %d: record %d has time %d", batch, n, Time(b))
				}
				n++
			}
		}
	}
}

func BenchmarkRing(b *testing.B) {
	r := NewRing(1)
	for b.Loop() {
		r.Next(1)
	}
}
