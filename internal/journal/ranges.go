package journal

import "slices"

// A Range is the sequence numbers [From, To).
type Range struct{ From, To uint64 }

// Ranges is a set of sequence numbers: sorted, disjoint, not touching.
type Ranges []Range

// Add returns the set with [from, to) in it. The old set is not changed.
func (r Ranges) Add(from, to uint64) Ranges {
	if from >= to {
		return r
	}
	out := make(Ranges, 0, len(r)+1)
	i := 0
	for ; i < len(r) && r[i].To < from; i++ {
		out = append(out, r[i])
	}
	for ; i < len(r) && r[i].From <= to; i++ {
		from, to = min(from, r[i].From), max(to, r[i].To)
	}
	out = append(out, Range{from, to})
	return append(out, r[i:]...)
}

// Union makes a set of ranges in any order, overlapping or not.
func Union(rs []Range) Ranges {
	sorted := slices.Clone(rs)
	slices.SortFunc(sorted, func(a, b Range) int {
		switch {
		case a.From < b.From:
			return -1
		case a.From > b.From:
			return 1
		}
		return 0
	})
	var out Ranges
	for _, x := range sorted {
		if x.From >= x.To {
			continue
		}
		if n := len(out); n > 0 && x.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, x.To)
			continue
		}
		out = append(out, x)
	}
	return out
}

// find returns the index of the first range that ends above seq.
func (r Ranges) find(seq uint64) int {
	i, _ := slices.BinarySearchFunc(r, seq, func(x Range, s uint64) int {
		if x.To <= s {
			return -1
		}
		return 1
	})
	return i
}

// Has tells whether seq is in the set.
func (r Ranges) Has(seq uint64) bool {
	i := r.find(seq)
	return i < len(r) && r[i].From <= seq
}

// Covers tells whether all of [from, to) is in the set.
func (r Ranges) Covers(from, to uint64) bool {
	if from >= to {
		return true
	}
	i := r.find(from)
	return i < len(r) && r[i].From <= from && r[i].To >= to
}

// Skip returns the first number at or above seq that is not in the set.
func (r Ranges) Skip(seq uint64) uint64 {
	if i := r.find(seq); i < len(r) && r[i].From <= seq {
		return r[i].To
	}
	return seq
}

// Next returns the first number above or at seq that is in the set; ok is false
// if there is none.
func (r Ranges) Next(seq uint64) (next uint64, ok bool) {
	i := r.find(seq)
	if i == len(r) {
		return 0, false
	}
	return max(seq, r[i].From), true
}

// Gaps returns what of [from, to) is not in the set.
func (r Ranges) Gaps(from, to uint64) []Range {
	var out []Range
	for from < to {
		from = r.Skip(from)
		if from >= to {
			break
		}
		end, ok := r.Next(from)
		if !ok || end > to {
			end = to
		}
		out = append(out, Range{from, end})
		from = end
	}
	return out
}
