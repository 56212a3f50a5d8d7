package query

import (
	"cmp"
	"context"

	"example.com/ledger/stream"
)

// A Ranked is a record's number and the value that it is ranked by.
type Ranked struct {
	Seq   stream.Seq
	Value Value
}

// Largest returns the n records with the largest values of a field for which the
// condition holds, largest first; of equal ones those with the lower number.
func (q *Query) Largest(ctx context.Context, n int, field string) ([]Ranked, error) {
	s, err := q.rowScan(ctx, []string{field})
	if err != nil {
		return nil, err
	}
	defer s.w.finish()
	if n <= 0 {
		return nil, nil
	}
	c := s.out.Columns[0]
	isSigned := c.Kind.Signed()
	type entry struct{ order, seq uint64 }
	best := top[entry]{n: n, cmp: func(x, y entry) int {
		return cmp.Or(cmp.Compare(y.order, x.order), cmp.Compare(x.seq, y.seq))
	}}
	take := func(sel []uint32, _ int) {
		b := s.w.b
		consider := func(i int, bits uint64) {
			best.add(entry{order(bits, isSigned), b.g.First() + uint64(b.lo+i)})
		}
		v := b.wide(s.out.ids[0])
		if sel == nil {
			for i, x := range v {
				consider(i, x)
			}
		}
		for _, i := range sel {
			consider(int(i), v[i])
		}
	}
	from, to := s.p.seqs()
	if err := s.walk(from, to, false, s.out.ids, take, func() bool { return true }); err != nil {
		return nil, err
	}
	var out []Ranked
	for _, e := range best.sorted() {
		out = append(out, Ranked{stream.Seq(e.seq), fieldValue(order(e.order, isSigned), c.Kind, c.Scale)})
	}
	return out, nil
}
