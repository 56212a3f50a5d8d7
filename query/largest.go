package query

import (
	"context"
	"slices"

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
	var top []entry
	take := func(sel []uint32, _ int) {
		b := s.w.b
		consider := func(i int, bits uint64) {
			o := order(bits, isSigned)
			if len(top) == n && o <= top[n-1].order {
				return
			}
			e := entry{o, b.g.First() + uint64(b.lo+i)}
			at, _ := slices.BinarySearchFunc(top, e, func(x, e entry) int {
				if x.order >= e.order { // those that came before stay before
					return -1
				}
				return 1
			})
			if len(top) == n {
				top = top[:n-1]
			}
			top = slices.Insert(top, at, e)
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
	out := make([]Ranked, len(top))
	for i, e := range top {
		out[i] = Ranked{stream.Seq(e.seq), fieldValue(order(e.order, isSigned), c.Kind, c.Scale)}
	}
	return out, nil
}
