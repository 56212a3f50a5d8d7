package query

import (
	"slices"

	"example.com/ledger/schema"
)

// A tree is a condition bound to a schema, in its normal form: nothing is
// negated, a leaf is a set of values of one column, and the branches under an
// operator have other operators, and leaves of different columns. Trees are
// never changed once they are made.
type tree struct {
	op   op // opAnd, opOr; opIn for a leaf
	kids []*tree
	col  int
	kind schema.Kind
	set  set
	rest set // of the domain, if it has fewer spans than set; else nil
}

// always and never are the trees of what needs no look at a record.
var (
	always = &tree{op: opAnd}
	never  = &tree{op: opOr}
)

// leaf returns the tree of a set.
func leaf(col int, kind schema.Kind, x set) *tree {
	switch x.against(domain(kind)) {
	case all:
		return always
	case none:
		return never
	}
	t := &tree{op: opIn, col: col, kind: kind, set: x}
	if rest := x.not(domain(kind)); len(rest) < len(x) {
		t.rest = rest
	}
	return t
}

// combine joins trees by an operator into normal form.
func combine(o op, kids []*tree) *tree {
	unit, zero := always, never // of and: what changes nothing, what decides all
	if o == opOr {
		unit, zero = never, always
	}
	var out []*tree
	var add func(k *tree) bool
	add = func(k *tree) bool {
		switch {
		case k == unit:
			return true
		case k == zero:
			return false
		case k.op == o:
			for _, kk := range k.kids {
				if !add(kk) {
					return false
				}
			}
			return true
		case k.op == opIn:
			for i, t := range out {
				if t.op == opIn && t.col == k.col {
					x := t.set.and(k.set)
					if o == opOr {
						x = t.set.or(k.set)
					}
					switch m := leaf(t.col, t.kind, x); m {
					case zero:
						return false
					case unit: // and of leaves is never all of the domain
						out = append(out[:i], out[i+1:]...)
					default:
						out[i] = m
					}
					return true
				}
			}
		}
		out = append(out, k)
		return true
	}
	for _, k := range kids {
		if !add(k) {
			return zero
		}
	}
	switch len(out) {
	case 0:
		return unit
	case 1:
		return out[0]
	}
	slices.SortStableFunc(out, func(a, b *tree) int { return a.cost() - b.cost() })
	return &tree{op: o, kids: out}
}

// cost orders conditions that are joined: narrow columns are read first.
func (t *tree) cost() int {
	if t.op == opIn {
		return t.kind.Size()
	}
	return 100
}

// columns adds the columns that t looks at to cols.
func (t *tree) columns(cols []int) []int {
	if t.op == opIn {
		return addColumn(cols, t.col)
	}
	for _, k := range t.kids {
		cols = k.columns(cols)
	}
	return cols
}

func addColumn(cols []int, c int) []int {
	for _, x := range cols {
		if x == c {
			return cols
		}
	}
	return append(cols, c)
}

// under returns what is left of t for records whose columns have the bounds
// that known returns; ok is false where a column's are not known.
func (t *tree) under(known func(col int) (span, bool)) *tree {
	if t.op == opIn {
		b, ok := known(t.col)
		if !ok {
			return t
		}
		switch t.set.against(b) {
		case all:
			return always
		case none:
			return never
		}
		return t
	}
	var kids []*tree
	changed := false
	for i, k := range t.kids {
		r := k.under(known)
		if r != k && !changed {
			changed = true
			kids = append(kids, t.kids[:i]...)
		}
		if changed {
			kids = append(kids, r)
		}
	}
	if !changed {
		return t
	}
	return combine(t.op, kids)
}

// conjunct returns the set that must hold of a column wherever t does; ok is
// false where t demands none.
func (t *tree) conjunct(col int) (set, bool) {
	if t.op == opIn && t.col == col {
		return t.set, true
	}
	if t.op == opAnd {
		for _, k := range t.kids {
			if k.op == opIn && k.col == col {
				return k.set, true
			}
		}
	}
	return nil, false
}

// without returns t without the leaf that conjunct found.
func (t *tree) without(col int) *tree {
	if t.op == opIn {
		return always
	}
	var kids []*tree
	for _, k := range t.kids {
		if k.op != opIn || k.col != col {
			kids = append(kids, k)
		}
	}
	return combine(opAnd, kids)
}
