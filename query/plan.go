package query

import "example.com/ledger/schema"

// A prim is a number kept for each group; aggregates are made of them at the end.
type prim struct {
	op   primOp
	a, b int // columns
}

type primOp uint8

const (
	primCount primOp = iota
	primSum
	primDot   // of a and b
	primMin   // as an order number
	primMax   // as an order number
	primFirst // bits, then the number of the run of records they come from
	primLast
)

// A plan is a query bound to a schema. It is read by all workers.
type plan struct {
	s     *schema.Schema
	where *tree
	keys  []column
	every int64 // units of time; 0: no intervals
	prims []prim
	aggs  []boundAgg
	init  []wide // what prims begin with
	steps []step
	tally tallyPlan
	cols  []int // that are read besides the condition's
	limit int   // groups
}

// A boundAgg is an aggregate, and where its prims are.
type boundAgg struct {
	Agg
	col    Column
	x, y   int // prims; y is the divisor's
	scale  uint8
	digits uint8
}

// moreDigits is how many decimals a quotient is printed with beyond its field's.
const moreDigits = 4

// bindAggs adds what aggs need to the plan.
func (p *plan) bindAggs(aggs []Agg) error {
	p.prims = []prim{{op: primCount}}
	for _, a := range aggs {
		b := boundAgg{Agg: a, col: Column{Name: a.String()}}
		var ca, cb column
		var err error
		if a.fn.fields() > 0 {
			if ca, err = lookup(p.s, a.a, a.posA); err != nil {
				return err
			}
			b.scale, b.digits = ca.scale, ca.scale
		}
		if a.fn.fields() > 1 {
			if cb, err = lookup(p.s, a.b, a.posB); err != nil {
				return err
			}
		}
		switch a.fn {
		case fnCount:
		case fnSum:
			b.x = p.prim(prim{op: primSum, a: ca.id})
		case fnMin, fnMax, fnFirst, fnLast:
			b.x = p.prim(prim{op: map[fn]primOp{fnMin: primMin, fnMax: primMax, fnFirst: primFirst, fnLast: primLast}[a.fn], a: ca.id})
			b.col.Kind, b.col.Time = ca.kind, ca.id == colTime
		case fnAvg:
			b.x = p.prim(prim{op: primSum, a: ca.id})
			b.digits += moreDigits
		case fnVWAP:
			b.x = p.prim(prim{op: primDot, a: ca.id, b: cb.id})
			b.y = p.prim(prim{op: primSum, a: cb.id})
			b.digits += moreDigits
		case fnNotional:
			b.x = p.prim(prim{op: primDot, a: ca.id, b: cb.id})
			b.scale += cb.scale
			b.digits = b.scale
		}
		b.col.Scale = b.digits
		p.aggs = append(p.aggs, b)
	}
	p.init = make([]wide, len(p.prims))
	for i, x := range p.prims {
		switch x.op {
		case primMin:
			p.init[i] = wide{^uint64(0)}
		case primFirst:
			p.init[i] = wide{0, ^uint64(0)}
		}
	}
	p.planSteps()
	p.planTally()
	p.cols = p.columns()
	return nil
}

// prim returns the place of x among the prims, adding it if it is new.
func (p *plan) prim(x prim) int {
	for i, y := range p.prims {
		if x == y {
			return i
		}
	}
	p.prims = append(p.prims, x)
	return len(p.prims) - 1
}

// value makes the aggregate's value of a group's prims.
func (a *boundAgg) value(slots []wide) Value {
	count, x := slots[0], slots[a.x]
	switch a.fn {
	case fnCount:
		return intValue(count, 0)
	case fnSum, fnNotional:
		return intValue(x, a.scale)
	case fnAvg:
		return quotient(x, count, a.scale, a.digits)
	case fnVWAP:
		return quotient(x, slots[a.y], a.scale, a.digits)
	}
	if count == (wide{}) {
		return Value{scale: a.scale, digits: a.digits}
	}
	bits := x[0]
	if a.fn == fnMin || a.fn == fnMax {
		bits = order(bits, a.col.Kind.Signed())
	}
	return fieldValue(bits, a.col.Kind, a.scale)
}

// merge adds the prims of one part of a group's records to those of another.
func (p *plan) merge(dst, src []wide) {
	for i, x := range p.prims {
		d, s := &dst[i], &src[i]
		switch x.op {
		case primMin:
			d[0] = min(d[0], s[0])
		case primMax:
			d[0] = max(d[0], s[0])
		case primFirst:
			if s[1] < d[1] {
				*d = *s
			}
		case primLast:
			if s[1] >= d[1] && src[0] != (wide{}) {
				*d = *s
			}
		default:
			d.add(*s)
		}
	}
}

// A step is what is done with a block that needs no grouping. It fills up to two
// prims in one pass; -1 is none.
type step struct {
	op   stepOp
	a, b int
	x, y int // prims: min and max, dot and sum
}

type stepOp uint8

const (
	stepSum    stepOp = iota // x: the sum of a
	stepDotSum               // x: the sum of a*b, y: of b
	stepMinMax               // x: the smallest of a, y: the largest
	stepFirst
	stepLast
)

func (p *plan) planSteps() {
	done := make([]bool, len(p.prims))
	find := func(op primOp, a int) int {
		for i, x := range p.prims {
			if !done[i] && x.op == op && x.a == a {
				done[i] = true
				return i
			}
		}
		return -1
	}
	for i, x := range p.prims {
		if x.op == primDot {
			done[i] = true
			p.steps = append(p.steps, step{op: stepDotSum, a: x.a, b: x.b, x: i, y: find(primSum, x.b)})
		}
	}
	for i, x := range p.prims {
		if done[i] {
			continue
		}
		switch x.op {
		case primSum:
			p.steps = append(p.steps, step{op: stepSum, a: x.a, x: i, y: -1})
		case primMin, primMax:
			p.steps = append(p.steps, step{op: stepMinMax, a: x.a, x: find(primMin, x.a), y: find(primMax, x.a)})
		case primFirst:
			p.steps = append(p.steps, step{op: stepFirst, a: x.a, x: i, y: -1})
		case primLast:
			p.steps = append(p.steps, step{op: stepLast, a: x.a, x: i, y: -1})
		}
	}
}

// columns returns what has to be read besides the condition's columns.
func (p *plan) columns() []int {
	var cols []int
	for _, k := range p.keys {
		cols = addColumn(cols, k.id)
	}
	for _, s := range p.steps {
		cols = addColumn(cols, s.a)
		if s.op == stepDotSum {
			cols = addColumn(cols, s.b)
		}
	}
	if p.every > 0 {
		cols = addColumn(cols, colTime)
	}
	return cols
}
