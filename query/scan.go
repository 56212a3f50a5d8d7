package query

import (
	"math"
	"sort"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
)

// scan adds the records of a part to the groups. It tells whether it had to read
// values.
func (w *worker) scan(pt *part) (read bool, err error) {
	if !w.turn(pt) {
		return false, nil
	}
	if w.groups.width == 0 && w.left == always && pt.whole() {
		if done, err := w.fromBounds(); done || err != nil {
			return false, err
		}
	}
	if w.g, err = pt.Acquire(); err != nil {
		return false, err
	}
	defer pt.Release()
	return true, disk.Guard(w.scanOpen)
}

// fromBounds answers for a whole part by what its header and footer say, if
// that is enough.
func (w *worker) fromBounds() (bool, error) {
	slots := append(w.slots[:0], w.p.init...)
	slots[0] = wideInt(int64(w.part.Len()))
	for _, s := range w.p.steps {
		z, ok := w.known(s.a)
		if s.op != stepMinMax || !ok {
			return false, nil
		}
		if s.x >= 0 {
			slots[s.x][0] = z.lo
		}
		if s.y >= 0 {
			slots[s.y][0] = z.hi
		}
	}
	return true, w.groups.add(nil, slots)
}

// segment scans the acquired records of the part.
func (w *worker) segment() error {
	sorted := w.part.sorted()
	lo, hi, t, err := narrow(w.b, w.g, w.left, sorted)
	if err != nil || lo == hi {
		return err
	}
	w.cols = t.columns(append(w.cols[:0], w.p.cols...))
	if err := w.b.open(w.g, w.cols); err != nil {
		return err
	}
	switch {
	case w.p.every > 0:
		return w.intervals(lo, hi, t, sorted)
	case len(w.p.keys) > 0:
		return w.grouped(lo, hi, t, 0)
	}
	return w.single(lo, hi, t, nil)
}

// narrow finds the records of g outside of which t can't hold, by their numbers
// and, where times are sorted, by time; and what is left of t for them.
func narrow(b *block, g segment.Segment, t *tree, sorted bool) (lo, hi int, left *tree, err error) {
	hi = g.Len()
	if s, ok := t.conjunct(colSeq); ok {
		h := s.hull()
		first, last := g.First(), g.First()+uint64(g.Len()-1)
		if h.lo > last || h.hi < first {
			return 0, 0, t, nil
		}
		lo, hi = int(max(h.lo, first)-first), int(min(h.hi, last)-first)+1
		if len(s) == 1 {
			t = t.without(colSeq)
		}
	}
	s, ok := t.conjunct(colTime)
	if !ok || !sorted {
		return lo, hi, t, nil
	}
	if err := b.open(g, timeOnly); err != nil {
		return 0, 0, t, err
	}
	h := s.hull()
	n := hi - lo
	from := sort.Search(n, func(i int) bool { return order(b.at(colTime, lo+i), true) >= h.lo })
	to := from + sort.Search(n-from, func(i int) bool { return order(b.at(colTime, lo+from+i), true) > h.hi })
	if len(s) == 1 {
		t = t.without(colTime)
	}
	return lo + from, lo + to, t, nil
}

var timeOnly = []int{colTime}

// single adds the records of [lo, hi) to one group.
func (w *worker) single(lo, hi int, t *tree, key []uint64) error {
	slots := append(w.slots[:0], w.p.init...)
	if err := w.plain(lo, hi, t, w.p.steps, slots); err != nil {
		return err
	}
	if slots[0] == (wide{}) {
		return nil
	}
	return w.groups.add(key, slots)
}

// shortRun is the number of records of one interval below which it is cheaper to
// find the group of each record than to set about the run as a whole.
const shortRun = 256

// intervals cuts [lo, hi) into runs of records in one interval of time.
func (w *worker) intervals(lo, hi int, t *tree, sorted bool) error {
	for lo < hi {
		end, n := w.run(lo, hi, sorted)
		if end-lo < shortRun && end < hi {
			end = min(lo+w.b.size, hi)
			if err := w.generic(lo, end, t, true, 0); err != nil {
				return err
			}
			lo = end
			continue
		}
		var err error
		if len(w.p.keys) > 0 {
			err = w.grouped(lo, end, t, n)
		} else {
			w.key[0] = uint64(n)
			err = w.single(lo, end, t, w.key)
		}
		if err != nil {
			return err
		}
		lo = end
	}
	return nil
}

// run returns the interval that record lo lies in, and the end of the records
// that follow it there.
func (w *worker) run(lo, hi int, sorted bool) (end int, n int64) {
	b, every := w.b, w.p.every
	n = floorDiv(int64(b.at(colTime, lo)), every)
	from, to := intervalBounds(n, every)
	in := func(i int) bool { ts := int64(b.at(colTime, i)); return ts >= from && ts <= to }
	if !sorted {
		end = lo + 1
		if ts := b.direct64(colTime); ts != nil {
			width := uint64(to - from)
			for _, t := range ts[end:hi] {
				if t-uint64(from) > width {
					break
				}
				end++
			}
			return end, n
		}
		for end < hi && in(end) {
			end++
		}
		return end, n
	}
	gap := 64 // gallop, then search
	for lo+gap < hi && in(lo+gap) {
		lo += gap
		gap *= 2
	}
	last := min(lo+gap, hi)
	return lo + 1 + sort.Search(last-lo-1, func(i int) bool { return !in(lo + 1 + i) }), n
}

// floorDiv returns the number of the interval that ts lies in.
func floorDiv(ts, every int64) int64 {
	n := ts / every
	if ts%every < 0 {
		n--
	}
	return n
}

// intervalBounds returns the first and the last time of an interval, cut off at
// what a time can be.
func intervalBounds(n, every int64) (from, to int64) {
	from, to = n*every, n*every+(every-1)
	if n < 0 && from > 0 { // n is the floor of a time, so only the lowest can pass the end
		from = math.MinInt64
	}
	if n >= 0 && to < 0 {
		to = math.MaxInt64
	}
	return from, to
}
