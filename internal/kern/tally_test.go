package kern

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// naiveCandle is what a Candle must hold, with math/big.
type naiveCandle struct {
	n, q, open, high, low, close int64
	pq                           big.Int
}

// checkTally runs all tallies over the same records, a few keys of which repeat often.
func checkTally(t *testing.T, r *rand.Rand, n int) {
	t.Helper()
	keys := make([]uint16, n)
	p, q := fillSigned(r, n), fillSigned(r, n)
	p64, q64 := make([]int64, n), make([]int64, n)
	spread := 1 + r.IntN(1<<r.IntN(17))
	for i := range keys {
		keys[i] = uint16(r.IntN(spread)) ^ uint16(r.IntN(2)*0xffff)
		p64[i], q64[i] = int64(p[i]), int64(q[i])
	}
	want := map[uint16]*naiveCandle{}
	for i, k := range keys {
		c := want[k]
		x, y := p64[i], q64[i]
		if c == nil {
			c = &naiveCandle{open: x, high: x, low: x}
			want[k] = c
		}
		c.n++
		c.q += y
		c.high, c.low, c.close = max(c.high, x), min(c.low, x), x
		c.pq.Add(&c.pq, new(big.Int).Mul(big.NewInt(x), big.NewInt(y)))
	}
	cells := map[string]func(tab *[TableSize]Cell){
		"32":   func(tab *[TableSize]Cell) { TallyCells(tab, keys, p, q) },
		"64":   func(tab *[TableSize]Cell) { TallyCells(tab, keys, p64, q64) },
		"wide": func(tab *[TableSize]Cell) { TallyCellsWide(tab, keys, p64, q64) },
	}
	candles := map[string]func(tab *[TableSize]Candle){
		"32":   func(tab *[TableSize]Candle) { TallyCandles(tab, keys, p, q) },
		"64":   func(tab *[TableSize]Candle) { TallyCandles(tab, keys, p64, q64) },
		"wide": func(tab *[TableSize]Candle) { TallyCandlesWide(tab, keys, p64, q64) },
	}
	for _, simd := range []bool{true, false} {
		was := SetFast(simd)
		for name, f := range cells {
			tab := new([TableSize]Cell)
			f(tab)
			for i := range tab {
				compareCell(t, fmt.Sprintf("cells %s simd=%v of %d", name, simd, n), &tab[i], want[uint16(i)], name == "wide")
			}
		}
		for name, f := range candles {
			tab := new([TableSize]Candle)
			f(tab)
			what := fmt.Sprintf("candles %s simd=%v of %d", name, simd, n)
			for i := range tab {
				c, w := &tab[i], want[uint16(i)]
				compareCell(t, what, &c.Cell, w, name == "wide")
				if w != nil && (c.Open != w.open || c.High != w.high || ^c.NotLow != w.low || c.Close != w.close) {
					t.Fatalf("%s: key %d: %+v, want %+v", what, i, c, w)
				}
			}
		}
		SetFast(was)
	}
}

func compareCell(t *testing.T, what string, c *Cell, w *naiveCandle, wide bool) {
	if w == nil {
		if *c != (Cell{}) {
			t.Fatalf("%s: an empty key has %+v", what, c)
		}
		return
	}
	got, want := big.NewInt(int64(c.Lo)), &w.pq
	if wide {
		got.SetUint64(c.Lo).Add(got, new(big.Int).Lsh(big.NewInt(int64(c.Hi)), 64))
	} else { // wraps
		want = big.NewInt(int64(new(big.Int).And(want, new(big.Int).SetUint64(^uint64(0))).Uint64()))
	}
	if c.N != w.n || c.Q != w.q || got.Cmp(want) != 0 {
		t.Fatalf("%s: %+v (%v), want %+v (%v)", what, c, got, w, want)
	}
}

func fillSigned(r *rand.Rand, n int) []int32 {
	out := make([]int32, n)
	for i, x := range fill[uint32](r, n, 0) {
		out[i] = int32(x)
	}
	return out
}

func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 3, 4, 70, 5000} {
		checkTally(t, r, n)
	}
}

func FuzzTally(f *testing.F) {
	f.Add(uint64(1), 7)
	f.Add(uint64(2), 1000)
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		if n < 0 || n > 3000 {
			t.Skip("outside of what the target explores")
		}
		checkTally(t, rand.New(rand.NewPCG(seed, 9)), n)
	})
}

func BenchmarkTally(b *testing.B) {
	const n = 16384
	r := rand.New(rand.NewPCG(5, 5))
	keys := make([]uint16, n)
	for i := range keys {
		keys[i] = uint16(r.IntN(8) * r.IntN(8)) // uneven, as instruments are
	}
	p, q := fillSigned(r, n), fillSigned(r, n)
	for _, simd := range []bool{true, false} {
		cells, candles := new([TableSize]Cell), new([TableSize]Candle)
		b.Run(fmt.Sprintf("op=cells/simd=%v", simd), func(b *testing.B) {
			defer SetFast(SetFast(simd))
			b.SetBytes(10 * n)
			for b.Loop() {
				TallyCells(cells, keys, p, q)
			}
		})
		b.Run(fmt.Sprintf("op=candles/simd=%v", simd), func(b *testing.B) {
			defer SetFast(SetFast(simd))
			b.SetBytes(10 * n)
			for b.Loop() {
				TallyCandles(candles, keys, p, q)
			}
		})
	}
}
