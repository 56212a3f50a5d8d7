package engine

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"example.com/ledger/bench/internal/source"
)

// TestEngines: what is appended in several batches, by one goroutine, is read
// back after the engine was opened again, and the older half is dropped.
func TestEngines(t *testing.T) {
	for _, k := range Kinds() {
		if k.Floor {
			continue
		}
		t.Run(strings.ReplaceAll(k.Name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			const n = 1000
			recs := make([]byte, n*source.Width)
			source.NewGenerator().Fill(recs)
			dir := t.TempDir()
			o := Options{Sync: !k.NoSync, Goroutines: 1, Batch: n}
			e := open(t, k, dir, o)
			for _, cut := range [][2]int{{0, 1}, {1, 17}, {17, 600}} {
				put(t, e, recs[cut[0]*source.Width:cut[1]*source.Width])
			}
			shut(t, e)
			e = open(t, k, dir, o)
			put(t, e, recs[600*source.Width:])
			shut(t, e)
			e = open(t, k, dir, o)
			defer shut(t, e)
			i := 0
			same := func(b []byte) {
				for ; len(b) >= source.Width; b = b[source.Width:] {
					if want := recs[i*source.Width+8 : (i+1)*source.Width]; !bytes.Equal(b[8:source.Width], want) {
						t.Fatalf("record %d is %x, want %x", i, b[8:source.Width], want)
					}
					i++
				}
			}
			if err := e.(interface {
				Scan(from, to uint64, visit func([]byte)) error
			}).Scan(0, n, same); err != nil {
				t.Fatal(err)
			}
			if i != n {
				t.Fatalf("scanned %d records of %d", i, n)
			}
			r, ok := e.(Reader)
			if !ok {
				return
			}
			if d, ok := e.(Dropper); ok {
				if err := d.Drop(n / 2); err != nil {
					t.Fatal(err)
				}
			}
			for _, seq := range []uint64{n / 2, n - 1} {
				b, err := r.Get(nil, seq)
				if err != nil {
					t.Fatal(err)
				}
				i = int(seq)
				same(b)
			}
		})
	}
}

// TestTogether: appends from many goroutines all go in.
func TestTogether(t *testing.T) {
	for _, k := range Kinds() {
		for _, sync := range []bool{false, true} {
			if sync && !k.Sync || !sync && !k.NoSync {
				continue
			}
			e := open(t, k, t.TempDir(), Options{Sync: sync, Goroutines: 4, Batch: 16})
			together(t, e)
			shut(t, e)
		}
	}
}

func together(t *testing.T, e Engine) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			ring := source.NewRing(16)
			for range 5 {
				if err := e.Append(ring.Next(16)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func open(t *testing.T, k Kind, dir string, o Options) Engine {
	t.Helper()
	e, err := k.Open(dir, o)
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	return e
}

func put(t *testing.T, e Engine, recs []byte) {
	t.Helper()
	if err := e.Append(bytes.Clone(recs)); err != nil {
		t.Fatal(err)
	}
}

func shut(t *testing.T, e Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
