package query

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// fataler is what *testing.T and *rapid.T have in common here.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// snapshot makes a stream of rows and returns a snapshot of it: full segments
// sealed or on their way, the rest active, unless seal.
func snapshot(t fataler, s *schema.Schema, recs []byte, o stream.Options, seal bool) (v *stream.Snapshot, done func()) {
	t.Helper()
	o.Schema, o.Durability = s, stream.Os
	st, err := stream.CreateOn(sim.New().FS(), "/x", o)
	if err != nil {
		t.Fatal(err)
	}
	most := 2 * o.Capacity * s.Width()
	if o.Capacity == 0 {
		most = 1 << 20 / s.Width() * s.Width()
	}
	for b := recs; len(b) > 0; {
		n := min(len(b), most)
		if _, _, err := st.Append(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	if seal {
		if err := st.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	if v, err = st.Snapshot(); err != nil {
		t.Fatal(err)
	}
	return v, func() {
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// naiveGroup is one row of a result, the simplest way.
type naiveGroup struct {
	key  []*big.Int
	recs [][]byte
}

func naiveRun(s *schema.Schema, recs []byte, p Pred, by []string, every int64) []*naiveGroup {
	m := map[string]*naiveGroup{}
	var out []*naiveGroup
	for ; len(recs) > 0; recs = recs[s.Width():] {
		rec := recs[:s.Width()]
		if !naiveHolds(s, p, rec) {
			continue
		}
		var key []*big.Int
		if every > 0 {
			n := new(big.Int)
			n.Div(big.NewInt(schema.Time(rec)), big.NewInt(every)) // Euclidean: floors for every > 0
			n.Mul(n, big.NewInt(every))
			if !n.IsInt64() {
				n.SetInt64(-1 << 63)
			}
			key = append(key, n)
		}
		for _, name := range by {
			key = append(key, naiveValue(s, rec, name))
		}
		text := fmt.Sprint(key)
		if m[text] == nil {
			m[text] = &naiveGroup{key: key}
			out = append(out, m[text])
		}
		m[text].recs = append(m[text].recs, rec)
	}
	slices.SortFunc(out, func(a, b *naiveGroup) int {
		return slices.CompareFunc(a.key, b.key, (*big.Int).Cmp)
	})
	if every == 0 && len(by) == 0 && len(out) == 0 {
		out = append(out, &naiveGroup{})
	}
	return out
}

// naiveAgg returns the exact value of an aggregate, nil for null.
func naiveAgg(s *schema.Schema, a Agg, recs [][]byte) *big.Rat {
	var va, vb []*big.Int
	for _, r := range recs {
		if a.a != "" {
			va = append(va, naiveValue(s, r, a.a))
		}
		if a.b != "" {
			vb = append(vb, naiveValue(s, r, a.b))
		}
	}
	scaleOf := func(name string) *big.Rat {
		i, ok := s.Index(name)
		if !ok {
			return big.NewRat(1, 1)
		}
		return new(big.Rat).SetFrac(big.NewInt(1), pow10(s.Field(i).Scale))
	}
	sum, dot, weight := new(big.Int), new(big.Int), new(big.Int)
	for i := range va {
		sum.Add(sum, va[i])
		if vb != nil {
			dot.Add(dot, new(big.Int).Mul(va[i], vb[i]))
			weight.Add(weight, vb[i])
		}
	}
	rat := func(z *big.Int) *big.Rat { return new(big.Rat).SetInt(z) }
	n := int64(len(recs))
	switch a.fn {
	case fnCount:
		return big.NewRat(n, 1)
	case fnSum:
		return new(big.Rat).Mul(rat(sum), scaleOf(a.a))
	case fnNotional:
		return new(big.Rat).Mul(rat(dot), new(big.Rat).Mul(scaleOf(a.a), scaleOf(a.b)))
	case fnVWAP:
		if weight.Sign() == 0 {
			return nil
		}
		return new(big.Rat).Mul(new(big.Rat).SetFrac(dot, weight), scaleOf(a.a))
	}
	if n == 0 {
		return nil
	}
	var z *big.Int
	switch a.fn {
	case fnAvg:
		return new(big.Rat).Mul(new(big.Rat).SetFrac(sum, big.NewInt(n)), scaleOf(a.a))
	case fnMin:
		z = slices.MinFunc(va, (*big.Int).Cmp)
	case fnMax:
		z = slices.MaxFunc(va, (*big.Int).Cmp)
	case fnFirst:
		z = va[0]
	case fnLast:
		z = va[len(va)-1]
	}
	return new(big.Rat).Mul(rat(z), scaleOf(a.a))
}

// compare holds a result against the naive one.
func (q *Query) compare(t fataler, recs []byte, aggs []Agg) {
	t.Helper()
	every := int64(q.every) / (1e9 / q.s.Unit().PerSecond())
	want := naiveRun(q.s, recs, q.pred, q.by, every)
	res, err := q.Run(context.Background(), aggs...)
	if err != nil {
		t.Fatal(err)
	}
	what := func() string {
		return fmt.Sprintf("where %v by %v every %v, %v, %d workers", q.pred, q.by, q.every, aggs, q.workers)
	}
	if res.Len() != len(want) {
		t.Fatalf("%s: %d rows, want %d", what(), res.Len(), len(want))
	}
	for i, g := range want {
		for k, z := range g.key {
			v := res.At(i, k)
			v.scale = 0
			if v.Rat().Cmp(new(big.Rat).SetInt(z)) != 0 {
				t.Fatalf("%s: row %d: key %d is %v, want %v", what(), i, k, v, z)
			}
		}
		for k, a := range aggs {
			v, r := res.At(i, res.Keys+k), naiveAgg(q.s, a, g.recs)
			if v.IsNull() != (r == nil) || r != nil && v.Rat().Cmp(r) != 0 {
				t.Fatalf("%s: row %d (%d records): %v is %v, want %v", what(), i, len(g.recs), a, v.Rat(), r)
			}
			if r != nil && v.String() != roundHalfEven(r, int(v.Digits())) {
				t.Fatalf("%s: row %d: %v prints as %v, want %v", what(), i, a, v, roundHalfEven(r, int(v.Digits())))
			}
		}
	}
}

// roundHalfEven prints r with n decimals.
func roundHalfEven(r *big.Rat, n int) string {
	x := new(big.Rat).Mul(r, new(big.Rat).SetInt(pow10(uint8(n))))
	f := new(big.Int).Div(x.Num(), x.Denom()) // floor
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(f))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && f.Bit(0) == 1 {
		f.Add(f, big.NewInt(1))
	}
	s := new(big.Int).Abs(f).String()
	s = strings.Repeat("0", max(0, n+1-len(s))) + s
	if n > 0 {
		s = s[:len(s)-n] + "." + s[len(s)-n:]
	}
	if f.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// aggregates draws a few aggregates over any fields.
func aggregates(t *rapid.T, s *schema.Schema) []Agg {
	field := func() string { return rapid.SampledFrom(names(s)).Draw(t, "field") }
	if rapid.Bool().Draw(t, "candles") {
		px, qty := "px", "qty"
		if rapid.Bool().Draw(t, "wide") {
			px, qty = "wpx", "wqty"
		}
		return []Agg{First(px), Max(px), Min(px), Last(px), Sum(qty), VWAP(px, qty), Count()}[rapid.IntRange(0, 6).Draw(t, "from"):]
	}
	out := make([]Agg, rapid.IntRange(0, 5).Draw(t, "aggs"))
	for i := range out {
		switch f := fn(rapid.IntRange(0, int(fnNotional)).Draw(t, "fn")); f.fields() {
		case 0:
			out[i] = Count()
		case 1:
			out[i] = Agg{fn: f, a: field()}
		default:
			out[i] = Agg{fn: f, a: field(), b: field()}
		}
	}
	return out
}

// runAgainstNaive asks random questions of a random stream, with one worker and
// with several, with and without assembly.
func runAgainstNaive(t *rapid.T) {
	s := allKinds
	n := rapid.SampledFrom([]int{0, 1, 2, 64, 255, 300, 700, 2500}).Draw(t, "n")
	recs := rows(t, s, 0, n)
	o := stream.Options{
		Capacity: rapid.SampledFrom([]int{2, 100, 512, 5000}).Draw(t, "capacity"),
		Layout:   rapid.SampledFrom([]segment.Layout{segment.Columns, segment.Rows}).Draw(t, "layout"),
	}
	if n > 300 {
		o.Capacity = max(o.Capacity, 100) // a file costs time
	}
	v, done := snapshot(t, s, recs, o, rapid.Bool().Draw(t, "seal"))
	defer done()
	for range 2 {
		q := From(v).Where(preds(t, s, recs, rapid.IntRange(0, 3).Draw(t, "depth")))
		if rapid.Bool().Draw(t, "everything") {
			q = From(v)
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "keys") {
			q.By(rapid.SampledFrom(names(s)).Draw(t, "key"))
		}
		if rapid.Bool().Draw(t, "intervals") {
			q.Every(rapid.SampledFrom([]time.Duration{time.Microsecond, 10 * time.Millisecond, 300 * time.Millisecond, time.Hour}).Draw(t, "every"))
		}
		aggs := aggregates(t, s)
		q.Workers(1).compare(t, recs, aggs)
		was := kern.SetFast(rapid.Bool().Draw(t, "assembly"))
		q.workers, q.share = 3, 1
		q.compare(t, recs, aggs)
		kern.SetFast(was)
	}
}

func TestRunAgainstNaive(t *testing.T) { rapid.Check(t, runAgainstNaive) }

// FuzzRunAgainstNaive is the same, led by coverage. A run takes milliseconds, so
// give it -fuzzminimizetime=10x, or it spends its time on making inputs smaller.
func FuzzRunAgainstNaive(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(rapid.MakeFuzz(runAgainstNaive))
}

// TestTop takes the largest groups, equal ones by key.
func TestTop(t *testing.T) {
	recs := makeRows(allKinds, 0, 3000, "small", "sorted", 5)
	v, done := snapshot(t, allKinds, recs, stream.Options{Capacity: 1000}, false)
	defer done()
	whole, err := From(v).By("a", "b").Run(context.Background(), Count(), Sum("qty"))
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, whole.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(whole.At(b, 3).Cmp(whole.At(a, 3)), cmp.Compare(a, b))
	})
	for _, n := range []int{1, 3, 10, whole.Len(), whole.Len() + 5} {
		top, err := From(v).By("a", "b").Top(n, 1).Run(context.Background(), Count(), Sum("qty"))
		if err != nil || top.Len() != min(n, whole.Len()) {
			t.Fatalf("top %d: %d rows, %v", n, top.Len(), err)
		}
		for i := range top.Len() {
			for c := range top.Columns {
				if top.At(i, c).Cmp(whole.At(order[i], c)) != 0 {
					t.Fatalf("top %d, row %d, %s: %v, want %v", n, i, top.Columns[c], top.At(i, c), whole.At(order[i], c))
				}
			}
		}
	}
}

// TestRunRefuses: what can't be asked is ErrInvalid, before anything is read.
func TestRunRefuses(t *testing.T) {
	v, done := snapshot(t, allKinds, nil, stream.Options{}, false)
	defer done()
	ctx := context.Background()
	for name, q := range map[string]*Query{
		"unknown key":       From(v).By("nosuch"),
		"negative interval": From(v).Every(-time.Second),
		"fine interval":     From(v).Every(time.Nanosecond), // the stream has µs
		"unknown field":     From(v).Where(Eq("nosuch", 1)),
		"top of nothing":    From(v).Top(3, 7),
		"negative top":      From(v).Top(-3, 0),
	} {
		if _, err := q.Run(ctx, Count()); !isInvalid(err) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := From(v).Run(ctx, Sum("nosuch")); !isInvalid(err) {
		t.Errorf("unknown field of an aggregate: %v", err)
	}
}
