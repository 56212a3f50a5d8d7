package query

import "example.com/ledger/schema"

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
