package query

import (
	"math"
	"math/bits"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
)

// plain runs the steps over records [lo, hi) of the open segment for which t
// holds, without grouping.
func (w *worker) plain(lo, hi int, t *tree, steps []step, slots []wide) error {
	b := w.b
	for i := lo; i < hi; i += b.size {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		b.load(i, min(i+b.size, hi))
		count, mask := b.n, []uint64(nil)
		if t != always {
			mask = b.eval(t)
			if count = kern.Count(mask, b.n); count == 0 {
				continue
			}
			if count == b.n {
				mask = nil
			}
		}
		slots[0].addInt(int64(count))
		for _, s := range steps {
			w.step(s, mask, slots)
		}
	}
	return nil
}

// step runs one step over the window; a nil mask takes all of it.
func (w *worker) step(s step, mask []uint64, slots []wide) {
	b := w.b
	switch s.op {
	case stepSum:
		w.sum(s.a, mask, &slots[s.x])
	case stepDotSum:
		w.dotSum(s, mask, slots)
	case stepMinMax:
		lo, hi := extremes(b.values(s.a), mask)
		if s.x >= 0 {
			slots[s.x][0] = min(slots[s.x][0], lo)
		}
		if s.y >= 0 {
			slots[s.y][0] = max(slots[s.y][0], hi)
		}
	case stepFirst:
		i := b.lo
		if mask != nil {
			i += firstBit(mask)
		}
		if seq := b.g.First() + uint64(i); seq < slots[s.x][1] {
			slots[s.x] = wide{b.at(s.a, i), seq}
		}
	case stepLast:
		i := b.lo + b.n - 1
		if mask != nil {
			i = b.lo + lastBit(mask)
		}
		if seq := b.g.First() + uint64(i); seq >= slots[s.x][1] {
			slots[s.x] = wide{b.at(s.a, i), seq}
		}
	}
}

func firstBit(m []uint64) int {
	i := 0
	for m[i] == 0 {
		i++
	}
	return 64*i + bits.TrailingZeros64(m[i])
}

func lastBit(m []uint64) int {
	i := len(m) - 1
	for m[i] == 0 {
		i--
	}
	return 64*i + 63 - bits.LeadingZeros64(m[i])
}

// extremes returns the order numbers of the smallest and the largest value. The
// mask must not be empty.
func extremes(v vec, mask []uint64) (lo, hi uint64) {
	switch v.kind.Size() {
	case 1:
		return extremesOf(words[uint8](v), mask, v.kind)
	case 2:
		return extremesOf(words[uint16](v), mask, v.kind)
	case 4:
		return extremesOf(words[uint32](v), mask, v.kind)
	}
	return extremesOf(words[uint64](v), mask, v.kind)
}

func extremesOf[T kern.Word](v []T, mask []uint64, k schema.Kind) (lo, hi uint64) {
	var l, h T
	if mask == nil {
		l, h = kern.MinMax(v, k.Signed())
	} else {
		l, h = kern.MinMaxMasked(v, mask, k.Signed())
	}
	// In the domain of the kind order numbers grow by one from value to value.
	if d := domain(k); k.Signed() {
		t := kern.Top[T]()
		return d.lo + uint64(l^t), d.lo + uint64(h^t)
	}
	return uint64(l), uint64(h)
}

// largest returns the largest absolute value that a column can have in the
// window: by its bounds if that is below enough, else by looking.
func (w *worker) largest(id int, enough uint64) uint64 {
	bound := w.bound(id)
	isSigned := w.b.col(id).kind.Signed()
	if m := magnitude(bound, isSigned); m <= enough {
		return m
	}
	lo, hi := extremes(w.b.values(id), nil)
	return magnitude(span{lo, hi}, isSigned)
}

// magnitude returns the largest absolute value in a span of order numbers.
func magnitude(s span, isSigned bool) uint64 {
	if !isSigned {
		return s.hi
	}
	abs := func(x uint64) uint64 {
		if x >= 1<<63 {
			return x - 1<<63
		}
		return 1<<63 - x
	}
	return max(abs(s.lo), abs(s.hi))
}

// sum adds a column up.
func (w *worker) sum(id int, mask []uint64, to *wide) {
	v := w.b.values(id)
	isSigned := v.kind.Signed()
	switch v.kind.Size() {
	case 1:
		to.addInt(sumOf(words[uint8](v), mask, isSigned))
	case 2:
		to.addInt(sumOf(words[uint16](v), mask, isSigned))
	case 4:
		to.addInt(sumOf(words[uint32](v), mask, isSigned))
	default:
		if fits(w.largest(id, math.MaxInt64/uint64(v.n)), 1, v.n) {
			to.addInt(sumOf(words[uint64](v), mask, isSigned))
			return
		}
		each(mask, v.n, func(i int) { to.add(wideBits(words[uint64](v)[i], isSigned)) })
	}
}

func sumOf[T kern.Word](v []T, mask []uint64, isSigned bool) int64 {
	if mask == nil {
		return kern.Sum(v, isSigned)
	}
	return kern.SumMasked(v, mask, isSigned)
}

// each calls f for each position in the mask, or for all n.
func each(mask []uint64, n int, f func(i int)) {
	if mask == nil {
		for i := range n {
			f(i)
		}
		return
	}
	for j, m := range mask {
		for ; m != 0; m &= m - 1 {
			f(64*j + bits.TrailingZeros64(m))
		}
	}
}
