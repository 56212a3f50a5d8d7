package query

import (
	"slices"

	"example.com/ledger/schema"
)

// Values of a field are compared by their order number: the bits of an unsigned
// kind, and for signed kinds the bits plus 2^63, so that both compare as uint64.
// A condition on one field is a set of them: spans, in order, that neither
// overlap nor touch. All of it is exact: an order number out of the kind's range
// never gets into a set.

// order returns the order number of a value's bits.
func order(bits uint64, isSigned bool) uint64 {
	if isSigned {
		return bits ^ 1<<63
	}
	return bits
}

// A span is the order numbers from lo to hi, both included.
type span struct{ lo, hi uint64 }

// A set is a condition on one field.
type set []span

// domain returns the order numbers of a kind.
func domain(k schema.Kind) span {
	bits := 8 * k.Size()
	if !k.Signed() {
		return span{0, ^uint64(0) >> (64 - bits)}
	}
	half := uint64(1) << (bits - 1)
	return span{1<<63 - half, 1<<63 + (half - 1)}
}

// not returns the rest of the domain.
func (s set) not(d span) set {
	var out set
	at := d.lo
	for _, x := range s {
		if x.lo > at {
			out = append(out, span{at, x.lo - 1})
		}
		if x.hi == d.hi {
			return out
		}
		at = x.hi + 1
	}
	return append(out, span{at, d.hi})
}

// and returns what is in both.
func (s set) and(o set) set {
	var out set
	for i, j := 0, 0; i < len(s) && j < len(o); {
		lo, hi := max(s[i].lo, o[j].lo), min(s[i].hi, o[j].hi)
		if lo <= hi {
			out = append(out, span{lo, hi})
		}
		if s[i].hi < o[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// or returns what is in either.
func (s set) or(o set) set {
	all := append(slices.Clone(s), o...)
	slices.SortFunc(all, func(a, b span) int {
		if a.lo != b.lo {
			if a.lo < b.lo {
				return -1
			}
			return 1
		}
		return 0
	})
	var out set
	for _, x := range all {
		if n := len(out); n > 0 && (x.lo <= out[n-1].hi || x.lo-1 == out[n-1].hi) {
			out[n-1].hi = max(out[n-1].hi, x.hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

// has reports whether x is in s.
func (s set) has(x uint64) bool {
	lo, hi := 0, len(s)
	for lo < hi {
		m := (lo + hi) / 2
		if s[m].hi < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(s) && s[lo].lo <= x
}

// hull returns the smallest span around s, which must not be empty.
func (s set) hull() span { return span{s[0].lo, s[len(s)-1].hi} }

// A verdict says what is known of a condition before values are looked at.
type verdict int8

const (
	some verdict = iota // it has to be looked at
	none                // it holds for no record
	all                 // it holds for every record
)

// against tells what s says about values that lie within b.
func (s set) against(b span) verdict {
	for _, x := range s {
		if x.lo <= b.lo && b.hi <= x.hi {
			return all
		}
		if x.lo <= b.hi && b.lo <= x.hi {
			return some
		}
	}
	return none
}
