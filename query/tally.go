package query

import (
	"math"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
)

// The usual groups by small keys (an instrument, a side, an account among a few
// thousand) go through a table with a cell for every key of 16 bits: one pass
// over key, price and quantity does all that a candle needs. What the cells hold
// is flushed into the groups at the end of a run, and before a sum could overflow.

// A tallyPlan says whether a query is of that kind, and which prims it fills: -1 is none.
type tallyPlan struct {
	ok      bool
	candles bool
	p, q    int // columns; p is that of candles, too; -1 is none, q in its place
	dot     int
	sum     int
	first   int
	last    int
	min     int
	max     int
}

const noColumn = -3

// planTally looks whether the prims are those of one price and one quantity.
func (p *plan) planTally() {
	t := tallyPlan{ok: true, p: noColumn, q: noColumn, dot: -1, sum: -1, first: -1, last: -1, min: -1, max: -1}
	same := func(col *int, id int) {
		if *col == noColumn {
			*col = id
		}
		t.ok = t.ok && *col == id
	}
	for i, x := range p.prims {
		switch x.op {
		case primSum:
			same(&t.q, x.a)
			t.sum = i
		case primDot:
			same(&t.p, x.a)
			same(&t.q, x.b)
			t.dot = i
		case primFirst, primLast, primMin, primMax:
			same(&t.p, x.a)
			t.candles = true
			*map[primOp]*int{primFirst: &t.first, primLast: &t.last, primMin: &t.min, primMax: &t.max}[x.op] = i
		}
	}
	p.tally = t
}

// tallies are a worker's tables, and what is in them.
type tallies struct {
	cells   *[kern.TableSize]kern.Cell
	candles *[kern.TableSize]kern.Candle
	gids    []uint16 // scratch: keys as places in the table
	lo, hi  uint16   // the places that may be taken
	filled  bool
	seq     uint64 // of the first record's block
	room    uint64 // how much more the sums of products of 64 bits can take
	roomQ   uint64 // how much more the sums of quantities can take
	left    int    // how many more records the sums of products of 128 bits can take
	narrow  bool   // products are of 64 bits, in lo alone
	how     mapping
	bucket  int64
}

// reset makes the table that a query needs; it is empty.
func (t *tallies) reset(p *plan) {
	if len(p.keys) == 0 || !p.tally.ok {
		return
	}
	if p.tally.candles && t.candles == nil {
		t.candles = new([kern.TableSize]kern.Candle)
	}
	if !p.tally.candles && t.cells == nil {
		t.cells = new([kern.TableSize]kern.Cell)
	}
}

// grouped adds the records of [lo, hi), all in interval n if there are intervals.
func (w *worker) grouped(lo, hi int, t *tree, n int64) error {
	p := &w.p.tally
	how, ok := w.mapping()
	if !p.ok || !ok || hi-lo < shortRun {
		return w.generic(lo, hi, t, false, n)
	}
	if w.tab.filled && (w.tab.how != how || w.tab.bucket != n) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.tab.how, w.tab.bucket = how, n
	for i := lo; i < hi; i += w.b.size {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		sel, count := w.pick(i, min(i+w.b.size, hi), t)
		if count == 0 {
			continue
		}
		done, err := w.tally(sel, count)
		if err == nil && !done {
			if err = w.flush(); err == nil { // so that what is first and last stays so
				err = w.block(sel, count, false, n)
			}
		}
		if err != nil {
			return err
		}
	}
	if p.candles || w.p.every > 0 || !how.direct {
		return w.flush()
	}
	return nil // sums may go on over the next part
}

// tally adds the selected records of the window to the table, unless it is not
// worth it, or sums could overflow.
func (w *worker) tally(sel []uint32, count int) (done bool, err error) {
	p := &w.p.tally
	keys := w.places(sel)
	lo, hi := kern.MinMax(keys, false)
	if int(hi-lo) > 4*count {
		return false, nil
	}
	pc, qc := p.p, p.q
	if pc == noColumn {
		pc = qc
	}
	if qc == noColumn {
		qc = pc
	}
	if pc == noColumn { // only counts
		if err := w.begin(lo, hi, claim{n: count, narrow: true}); err != nil {
			return false, err
		}
		for _, k := range keys {
			w.tab.cells[k].N++
		}
		return true, nil
	}
	c, ok := w.claim(pc, qc, count)
	if !ok {
		return false, nil
	}
	if err := w.begin(lo, hi, c); err != nil {
		return false, err
	}
	w.fill(keys, sel, pc, qc, c.narrow)
	return true, nil
}

// claim returns the most that records of the window can add to a cell, with
// prices in column pc and quantities in qc; false if that is more than a cell takes.
func (w *worker) claim(pc, qc, count int) (c claim, ok bool) {
	mp, mq := w.largest(pc, math.MaxInt64), w.largest(qc, math.MaxInt64)
	if mp > math.MaxInt64 && !w.b.col(pc).kind.Signed() || mq > math.MaxInt64 && !w.b.col(qc).kind.Signed() {
		return c, false
	}
	if !fits(mp, mq, count) {
		mp, mq = w.largest(pc, 0), w.largest(qc, 0)
	}
	if !fits128(mp, mq, recordsMax) || !fits(mq, 1, count) {
		return c, false
	}
	c = claim{n: count, q: mq * uint64(count), narrow: fits(mp, mq, count)}
	if c.narrow {
		c.pq = mp * mq * uint64(count)
	}
	return c, true
}

// fill adds the selected records to the cells of their keys.
func (w *worker) fill(keys []uint16, sel []uint32, pc, qc int, narrow bool) {
	b, tab, candles := w.b, &w.tab, w.p.tally.candles
	vp, vq := b.packed(pc, sel), b.packed(qc, sel)
	if narrow && vp.kind == schema.I32 && vq.kind == schema.I32 {
		x, y := signed32(vp), signed32(vq)
		if candles {
			kern.TallyCandles(tab.candles, keys, x, y)
		} else {
			kern.TallyCells(tab.cells, keys, x, y)
		}
		return
	}
	x, y := signed64(b.packedWide(pc, sel)), signed64(b.packedWide(qc, sel))
	switch {
	case narrow && candles:
		kern.TallyCandles(tab.candles, keys, x, y)
	case narrow:
		kern.TallyCells(tab.cells, keys, x, y)
	case candles:
		kern.TallyCandlesWide(tab.candles, keys, x, y)
	default:
		kern.TallyCellsWide(tab.cells, keys, x, y)
	}
}

// recordsMax is the number of records between flushes.
const recordsMax = 1 << 30

// A claim is the most that a block can add to a cell.
type claim struct {
	n      int
	q, pq  uint64
	narrow bool // pq is in 64 bits
}

// begin gets the table ready for a block that takes places lo to hi.
func (w *worker) begin(lo, hi uint16, c claim) error {
	tab := &w.tab
	if tab.filled && (tab.narrow != c.narrow || c.pq > tab.room || c.q > tab.roomQ || c.n > tab.left) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if !tab.filled {
		tab.filled, tab.narrow = true, c.narrow
		tab.room, tab.roomQ, tab.left = math.MaxInt64, math.MaxInt64, recordsMax
		tab.lo, tab.hi = lo, hi
		tab.seq = w.b.g.First() + uint64(w.b.lo)
	}
	tab.room -= c.pq
	tab.roomQ -= c.q
	tab.left -= c.n
	tab.lo, tab.hi = min(tab.lo, lo), max(tab.hi, hi)
	return nil
}

// flush moves what the table holds to the groups.
func (w *worker) flush() error {
	tab, p := &w.tab, &w.p.tally
	if !tab.filled {
		return nil
	}
	tab.filled = false
	for i := int(tab.lo); i <= int(tab.hi); i++ {
		var c *kern.Cell
		if p.candles {
			c = &tab.candles[i].Cell
		} else {
			c = &tab.cells[i]
		}
		if c.N == 0 {
			continue
		}
		g, err := w.groups.find(w.placeKey(uint16(i)))
		if err != nil {
			tab.lo = uint16(i)
			w.clear()
			return err
		}
		slots := w.groups.at(g)
		slots[0].addInt(c.N)
		if p.sum >= 0 {
			slots[p.sum].addInt(c.Q)
		}
		if p.dot >= 0 {
			if tab.narrow {
				c.Hi = uint64(int64(c.Lo) >> 63)
			}
			slots[p.dot].add(wide{c.Lo, c.Hi, uint64(int64(c.Hi) >> 63)})
		}
		if p.candles {
			w.flushCandle(&tab.candles[i], slots)
			tab.candles[i] = kern.Candle{}
		} else {
			*c = kern.Cell{}
		}
	}
	return nil
}

func (w *worker) flushCandle(c *kern.Candle, slots []wide) {
	p := &w.p.tally
	isSigned := w.b.col(p.p).kind.Signed()
	if p.min >= 0 {
		s := &slots[p.min]
		s[0] = min(s[0], order(uint64(^c.NotLow), isSigned))
	}
	if p.max >= 0 {
		s := &slots[p.max]
		s[0] = max(s[0], order(uint64(c.High), isSigned))
	}
	if p.first >= 0 && w.tab.seq < slots[p.first][1] {
		slots[p.first] = wide{uint64(c.Open), w.tab.seq}
	}
	if p.last >= 0 && w.tab.seq >= slots[p.last][1] {
		slots[p.last] = wide{uint64(c.Close), w.tab.seq}
	}
}

// clear empties the table: an error has ended the query.
func (w *worker) clear() {
	tab := &w.tab
	tab.filled = false
	if w.p.tally.candles {
		clear(tab.candles[tab.lo : int(tab.hi)+1])
	} else {
		clear(tab.cells[tab.lo : int(tab.hi)+1])
	}
}
