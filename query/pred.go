package query

import (
	"fmt"
	"reflect"
	"time"
)

// A Pred is a condition on a record. The zero Pred holds for every record. It is
// bound to a schema when it is used; names and values that don't fit it are
// found then. Preds never change, and any number of goroutines may use one.
//
// Comparisons are exact. An integer is compared with the field as it is stored:
// Eq("px", 6412350) finds 64123.50 in a field with scale 2. A string is read as
// in a where clause, in the field's own terms: Eq("px", "64123.50"). Unsigned
// fields are never negative and reach 2^64-1; an integer that the field can't
// hold is simply below or above all its values.
type Pred struct{ n *node }

// A Literal is what a field can be compared with: an integer as stored, text as
// in a where clause, or a time for ts.
type Literal interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~string | time.Time
}

type op uint8

const (
	opAnd op = iota
	opOr
	opNot
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opBetween
	opIn
)

var opNames = [...]string{"&&", "||", "!", "==", "!=", "<", "<=", ">", ">=", "between", "in"}

// A node is a Pred's tree. Positions are those of the text it was parsed from.
type node struct {
	op    op
	kids  []*node   // of and, or, not
	field string    // of a comparison
	vals  []literal // of a comparison: 1; between: 2; in: any number
	pos   int
}

// A literal is a value not yet bound to a field.
type literal struct {
	neg  bool   // an integer below 0
	mag  uint64 // of an integer
	text string // of text
	at   time.Time
	form form
	pos  int
}

type form uint8

const (
	formInt form = iota
	formText
	formTime
)

func lit[V Literal](v V) literal {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return literal{form: formText, text: r.String()}
	case reflect.Struct:
		return literal{form: formTime, at: any(v).(time.Time)}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if i := r.Int(); i < 0 {
			return literal{neg: true, mag: -uint64(i)}
		}
		return literal{mag: uint64(r.Int())}
	default:
		return literal{mag: r.Uint()}
	}
}

func compare[V Literal](o op, field string, vs ...V) Pred {
	n := &node{op: o, field: field}
	for _, v := range vs {
		n.vals = append(n.vals, lit(v))
	}
	return Pred{n}
}

// Eq holds where the field is v.
func Eq[V Literal](field string, v V) Pred { return compare(opEq, field, v) }

// Ne holds where the field is not v.
func Ne[V Literal](field string, v V) Pred { return compare(opNe, field, v) }

// Lt holds where the field is less than v.
func Lt[V Literal](field string, v V) Pred { return compare(opLt, field, v) }

// Le holds where the field is at most v.
func Le[V Literal](field string, v V) Pred { return compare(opLe, field, v) }

// Gt holds where the field is more than v.
func Gt[V Literal](field string, v V) Pred { return compare(opGt, field, v) }

// Ge holds where the field is at least v.
func Ge[V Literal](field string, v V) Pred { return compare(opGe, field, v) }

// Between holds where the field is from lo to hi, both included.
func Between[V Literal](field string, lo, hi V) Pred { return compare(opBetween, field, lo, hi) }

// In holds where the field is one of vs; with none it never does.
func In[V Literal](field string, vs ...V) Pred { return compare(opIn, field, vs...) }

// And holds where all of ps do; with none it always does.
func And(ps ...Pred) Pred { return join(opAnd, ps) }

// Or holds where any of ps does; with none it never does.
func Or(ps ...Pred) Pred { return join(opOr, ps) }

// Not holds where p doesn't.
func Not(p Pred) Pred { return Pred{&node{op: opNot, kids: []*node{p.node()}}} }

func join(o op, ps []Pred) Pred {
	n := &node{op: o}
	for _, p := range ps {
		n.kids = append(n.kids, p.node())
	}
	return Pred{n}
}

// node returns the tree; for the zero Pred one that always holds.
func (p Pred) node() *node {
	if p.n == nil {
		return &node{op: opAnd}
	}
	return p.n
}

// String returns the condition as ParseWhere reads it; integers are those that
// are stored.
func (p Pred) String() string {
	if p.n == nil {
		return ""
	}
	return string(p.n.append(nil, opOr))
}

// append prints n; inside is the operator around it, which may need brackets.
func (n *node) append(b []byte, inside op) []byte {
	switch n.op {
	case opAnd, opOr:
		if len(n.kids) == 1 {
			return n.kids[0].append(b, inside)
		}
		if len(n.kids) == 0 { // what always or never holds
			if n.op == opAnd {
				return append(b, "seq >= 0"...)
			}
			return append(b, "seq in []"...)
		}
		open := inside == opNot || n.op == opOr && inside == opAnd
		if open {
			b = append(b, '(')
		}
		for i, k := range n.kids {
			if i > 0 {
				b = append(append(append(b, ' '), opNames[n.op]...), ' ')
			}
			b = k.append(b, n.op)
		}
		if open {
			b = append(b, ')')
		}
		return b
	case opNot:
		return n.kids[0].append(append(b, '!'), opNot)
	}
	open := inside == opNot
	if open {
		b = append(b, '(')
	}
	b = append(append(append(append(b, n.field...), ' '), opNames[n.op]...), ' ')
	switch n.op {
	case opBetween:
		b = append(n.vals[0].append(b), " and "...)
		b = n.vals[1].append(b)
	case opIn:
		b = append(b, '[')
		for i, v := range n.vals {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = v.append(b)
		}
		b = append(b, ']')
	default:
		b = n.vals[0].append(b)
	}
	if open {
		b = append(b, ')')
	}
	return b
}

func (l literal) append(b []byte) []byte {
	switch l.form {
	case formText:
		return append(append(append(b, '\''), l.text...), '\'')
	case formTime:
		return l.at.UTC().AppendFormat(b, time.RFC3339Nano)
	}
	if l.neg {
		b = append(b, '-')
	}
	return fmt.Appendf(b, "%d", l.mag)
}
