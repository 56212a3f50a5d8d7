package query

import (
	"slices"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// Columns are named by their field's number; these two stand for what is not a field.
const (
	colTime = segment.TimeField // -1
	colSeq  = -2
)

// A column is a field of the records, or seq, or ts.
type column struct {
	id    int
	name  string
	kind  schema.Kind
	scale uint8
	unit  schema.Unit // of ts
}

// lookup finds the column of a name.
func lookup(s *schema.Schema, name string, pos int) (column, error) {
	switch name {
	case "seq":
		return column{id: colSeq, name: name, kind: schema.U64}, nil
	case "ts":
		return column{id: colTime, name: name, kind: schema.I64, unit: s.Unit()}, nil
	}
	i, ok := s.Index(name)
	if !ok {
		return column{}, badAt(pos, "there is no field %s; there are %s", quote(name), fieldNames(s))
	}
	return columnAt(s, i), nil
}

// columnAt returns the column of a number.
func columnAt(s *schema.Schema, id int) column {
	switch id {
	case colSeq:
		return column{id: id, name: "seq", kind: schema.U64}
	case colTime:
		return column{id: id, name: "ts", kind: schema.I64, unit: s.Unit()}
	}
	f := s.Field(id)
	return column{id: id, name: f.Name, kind: f.Kind, scale: f.Scale}
}

func fieldNames(s *schema.Schema) string {
	names := "seq, ts"
	for i := range s.NumFields() {
		names += ", " + s.Field(i).Name
	}
	return names
}

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

// bindPred binds a condition to a schema.
func bindPred(s *schema.Schema, p Pred) (*tree, error) { return p.node().bind(s, false) }

// bind returns the tree of n, or of its opposite.
func (n *node) bind(s *schema.Schema, opposite bool) (*tree, error) {
	switch n.op {
	case opNot:
		return n.kids[0].bind(s, !opposite)
	case opAnd, opOr:
		o := n.op
		if opposite {
			o = opAnd + opOr - o
		}
		var kids []*tree
		for _, k := range n.kids {
			t, err := k.bind(s, opposite)
			if err != nil {
				return nil, err
			}
			kids = append(kids, t)
		}
		return combine(o, kids), nil
	}
	c, err := lookup(s, n.field, n.pos)
	if err != nil {
		return nil, err
	}
	x, err := n.set(c)
	if err != nil {
		return nil, err
	}
	if opposite {
		x = x.not(domain(c.kind))
	}
	return leaf(c.id, c.kind, x), nil
}

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

// set returns the values of column c for which a comparison holds.
func (n *node) set(c column) (set, error) {
	d := domain(c.kind)
	vals := make([]number, len(n.vals))
	for i, l := range n.vals {
		v, err := l.bind(c)
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	switch n.op {
	case opIn:
		var x set
		for _, v := range vals {
			x = append(x, v.equal()...)
		}
		return set(nil).or(x), nil
	case opEq:
		return vals[0].equal(), nil
	case opNe:
		return vals[0].equal().not(d), nil
	case opBetween:
		return vals[0].below(d, false).not(d).and(vals[1].below(d, true)), nil
	case opLt:
		return vals[0].below(d, false), nil
	case opLe:
		return vals[0].below(d, true), nil
	case opGt:
		return vals[0].below(d, true).not(d), nil
	default: // opGe
		return vals[0].below(d, false).not(d), nil
	}
}

// equal returns the set of v alone.
func (v number) equal() set {
	if v.out != 0 {
		return nil
	}
	return set{{v.order, v.order}}
}

// below returns the values less than v, or v as well.
func (v number) below(d span, orEqual bool) set {
	switch {
	case v.out < 0:
		return nil
	case v.out > 0:
		return set{d}
	case orEqual:
		return set{{d.lo, v.order}}
	case v.order == d.lo:
		return nil
	}
	return set{{d.lo, v.order - 1}}
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
