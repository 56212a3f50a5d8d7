package query

import (
	"math/big"
	"strings"
	"time"

	"example.com/ledger/schema"
)

// What a query must give, computed the simplest way: record by record, with
// math/big, and none of the package's own machinery.

// naiveValue returns a field of a record in row form.
func naiveValue(s *schema.Schema, rec []byte, name string) *big.Int {
	switch name {
	case "seq":
		return new(big.Int).SetUint64(schema.Seq(rec))
	case "ts":
		return big.NewInt(schema.Time(rec))
	}
	i, ok := s.Index(name)
	if !ok {
		panic("no field " + name)
	}
	if s.Field(i).Kind.Signed() {
		return big.NewInt(s.Int(rec, i))
	}
	return new(big.Int).SetUint64(s.Uint(rec, i))
}

func naiveLiteral(s *schema.Schema, name string, l literal) *big.Int {
	switch l.form {
	case formInt:
		z := new(big.Int).SetUint64(l.mag)
		if l.neg {
			z.Neg(z)
		}
		return z
	case formTime:
		return naiveTime(s, l.at)
	}
	if name == "ts" {
		if strings.Contains(l.text, "T") {
			t, err := time.Parse(time.RFC3339Nano, l.text)
			if err != nil {
				panic(err)
			}
			return naiveTime(s, t)
		}
		z, ok := new(big.Int).SetString(l.text, 10)
		if !ok {
			panic("no number: " + l.text)
		}
		return z
	}
	r, ok := new(big.Rat).SetString(l.text)
	if !ok {
		panic("no number: " + l.text)
	}
	scale := uint8(0)
	if i, ok := s.Index(name); ok {
		scale = s.Field(i).Scale
	}
	r.Mul(r, new(big.Rat).SetInt(pow10(scale)))
	if !r.IsInt() {
		panic("too many decimals: " + l.text)
	}
	return r.Num()
}

func naiveTime(s *schema.Schema, t time.Time) *big.Int {
	z := big.NewInt(t.Unix())
	z.Mul(z, big.NewInt(1e9)).Add(z, big.NewInt(int64(t.Nanosecond())))
	return z.Div(z, big.NewInt(1e9/s.Unit().PerSecond()))
}

// naiveHolds tells whether p holds for a record.
func naiveHolds(s *schema.Schema, p Pred, rec []byte) bool {
	if p.n == nil {
		return true
	}
	n := p.n
	switch n.op {
	case opAnd:
		for _, k := range n.kids {
			if !naiveHolds(s, Pred{k}, rec) {
				return false
			}
		}
		return true
	case opOr:
		for _, k := range n.kids {
			if naiveHolds(s, Pred{k}, rec) {
				return true
			}
		}
		return false
	case opNot:
		return !naiveHolds(s, Pred{n.kids[0]}, rec)
	}
	v := naiveValue(s, rec, n.field)
	cmp := func(i int) int { return v.Cmp(naiveLiteral(s, n.field, n.vals[i])) }
	switch n.op {
	case opEq:
		return cmp(0) == 0
	case opNe:
		return cmp(0) != 0
	case opLt:
		return cmp(0) < 0
	case opLe:
		return cmp(0) <= 0
	case opGt:
		return cmp(0) > 0
	case opGe:
		return cmp(0) >= 0
	case opBetween:
		return cmp(0) >= 0 && cmp(1) <= 0
	default:
		for i := range n.vals {
			if cmp(i) == 0 {
				return true
			}
		}
		return false
	}
}
