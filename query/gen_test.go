package query

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"example.com/ledger/schema"
)

// Generators of schemas, records and conditions.

// allKinds has a field of each kind, two of some, with and without scales.
var allKinds = mustSchema(schema.New(schema.Microsecond,
	schema.Field{Name: "a", Kind: schema.I8},
	schema.Field{Name: "b", Kind: schema.U8},
	schema.Field{Name: "c", Kind: schema.I16, Scale: 1},
	schema.Field{Name: "d", Kind: schema.U16},
	schema.Field{Name: "e", Kind: schema.I32, Scale: 2},
	schema.Field{Name: "f", Kind: schema.U32},
	schema.Field{Name: "g", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "h", Kind: schema.U64},
	schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
	schema.Field{Name: "qty", Kind: schema.I32},
	schema.Field{Name: "wpx", Kind: schema.I64, Scale: 8},
	schema.Field{Name: "wqty", Kind: schema.I64, Scale: 3},
))

func mustSchema(s *schema.Schema, err error) *schema.Schema {
	if err != nil {
		panic(err)
	}
	return s
}

func names(s *schema.Schema) []string {
	out := []string{"seq", "ts"}
	for i := range s.NumFields() {
		out = append(out, s.Field(i).Name)
	}
	return out
}

// rows draws n records from first on. Values are small, extreme, or anything;
// times go forwards, or jump about.
func rows(t *rapid.T, s *schema.Schema, first uint64, n int) []byte {
	style := rapid.SampledFrom([]string{"small", "edges", "any", "mixed"}).Draw(t, "values")
	times := rapid.SampledFrom([]string{"sorted", "jitter", "any"}).Draw(t, "times")
	seed := rapid.Uint64().Draw(t, "seed")
	return makeRows(s, first, n, style, times, seed)
}

// rng is a small generator, so that a record costs rapid nothing.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) value(style string) uint64 {
	x := r.next()
	switch style {
	case "small":
		return x%7 - 3 // wraps for unsigned kinds now and then
	case "edges":
		return edges[x%uint64(len(edges))] << (x >> 60)
	case "any":
		return x
	}
	switch x % 3 {
	case 0:
		return r.next() % 1000
	case 1:
		return r.next() >> (r.next() % 64)
	}
	return edges[r.next()%uint64(len(edges))]
}

func makeRows(s *schema.Schema, first uint64, n int, style, times string, seed uint64) []byte {
	r := rng(seed)
	b := make([]byte, n*s.Width())
	ts := int64(1_600_000_000_000_000) + int64(first)*1000
	for i := range n {
		rec := b[i*s.Width():][:s.Width()]
		schema.PutSeq(rec, first+uint64(i))
		switch times {
		case "sorted":
			ts += int64(r.next() % 2000)
		case "jitter":
			ts += int64(r.next()%2000) - 300
		default:
			ts = int64(r.value("mixed"))
			if r.next()%4 == 0 {
				ts = []int64{math.MinInt64, math.MaxInt64, -1, 0}[r.next()%4]
			}
		}
		schema.PutTime(rec, ts)
		for f := range s.NumFields() {
			putBits(s, rec, f, r.value(style))
		}
	}
	return b
}

// putBits stores the low bits of v.
func putBits(s *schema.Schema, rec []byte, field int, v uint64) {
	for i := range s.Field(field).Kind.Size() {
		rec[s.Offset(field)+i] = byte(v >> (8 * i))
	}
}

// preds draws a condition. Some of its literals are taken from recs.
func preds(t *rapid.T, s *schema.Schema, recs []byte, depth int) Pred {
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "branch") > 0 {
		switch rapid.IntRange(0, 2).Draw(t, "op") {
		case 0:
			return Not(preds(t, s, recs, depth-1))
		case 1:
			return And(predList(t, s, recs, depth-1)...)
		default:
			return Or(predList(t, s, recs, depth-1)...)
		}
	}
	name := rapid.SampledFrom(names(s)).Draw(t, "field")
	lits := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = literals(t, s, name, recs)
		}
		return out
	}
	one := lits(1)[0]
	switch rapid.IntRange(0, 8).Draw(t, "comparison") {
	case 0:
		return Eq(name, one)
	case 1:
		return Ne(name, one)
	case 2:
		return Lt(name, one)
	case 3:
		return Le(name, one)
	case 4:
		return Gt(name, one)
	case 5:
		return Ge(name, one)
	case 6:
		x := lits(2)
		if rapid.Bool().Draw(t, "ordered") {
			slices.Sort(x)
		}
		return Between(name, x[0], x[1])
	case 7:
		return In(name, lits(rapid.IntRange(0, 12).Draw(t, "list"))...)
	}
	return Le(name, uint64(one)) // beyond int64, too
}

func predList(t *rapid.T, s *schema.Schema, recs []byte, depth int) []Pred {
	out := make([]Pred, rapid.IntRange(0, 3).Draw(t, "kids"))
	for i := range out {
		out[i] = preds(t, s, recs, depth)
	}
	return out
}

func literals(t *rapid.T, s *schema.Schema, name string, recs []byte) int64 {
	if n := len(recs) / s.Width(); n > 0 && rapid.IntRange(0, 3).Draw(t, "taken") > 0 {
		rec := recs[rapid.IntRange(0, n-1).Draw(t, "record")*s.Width():]
		v := naiveValue(s, rec[:s.Width()], name)
		if v.IsInt64() {
			return v.Int64() + int64(rapid.IntRange(-1, 1).Draw(t, "near"))
		}
	}
	return int64(edgy().Draw(t, "literal"))
}
