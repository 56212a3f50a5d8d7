package ask

import (
	"encoding/binary"

	"example.com/ledger/bench/internal/source"
)

// Truth answers all questions from the records as they are made, one by one and
// as plainly as can be.
func Truth(n uint64) (map[string]Answer, error) {
	type pair struct{ notional, volume int64 }
	type key struct{ minute, sym int64 }
	var q1, q2, q3, q7 pair
	var q6 int64
	var q4 [source.Symbols]pair
	q5 := map[key][]int64{}
	from, to := Minute(n)
	err := each(n, func(b []byte) error {
		for ; len(b) >= source.Width; b = b[source.Width:] {
			le := binary.LittleEndian
			ts := source.Time(b)
			px, qty := int64(int32(le.Uint32(b[16:]))), source.Quantity(b)
			taker, sym, side := le.Uint32(b[24:]), int64(le.Uint16(b[32:])), b[34]
			add := func(p *pair) { p.notional += px * qty; p.volume += qty }
			add(&q1)
			if sym == Symbol {
				add(&q2)
			}
			if px >= PriceLo && px <= PriceHi && side == 0 {
				add(&q3)
			}
			if ts >= from && ts < to {
				add(&q7)
			}
			if taker == Taker {
				q6++
			}
			add(&q4[sym])
			k := key{ts / minute, sym}
			c := q5[k]
			if c == nil {
				c = []int64{px, px, px, px, 0}
				q5[k] = c
			}
			c[1], c[2], c[3], c[4] = max(c[1], px), min(c[2], px), px, c[4]+qty
		}
		return nil
	})
	one := func(p pair) Answer { return Answer{{p.notional, p.volume}} }
	m := map[string]Answer{"Q1": one(q1), "Q2": one(q2), "Q3": one(q3), "Q6": {{q6}}, "Q7": one(q7)}
	for sym, p := range q4 {
		if p.volume > 0 {
			m["Q4"] = append(m["Q4"], []int64{int64(sym), p.notional, p.volume})
		}
	}
	for k, c := range q5 {
		m["Q5"] = append(m["Q5"], append([]int64{k.minute, k.sym}, c...))
	}
	return m, err
}
