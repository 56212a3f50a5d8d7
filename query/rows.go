package query

import (
	"context"
	"fmt"
	"iter"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// Rows is a run of records that a query found, with the columns asked for. It is
// valid until the loop's next turn.
type Rows struct {
	Columns []Column

	ids  []int
	n    int
	seqs []uint64
	vals [][]int64
	g    segment.Segment
	s    *schema.Schema
}

// Len returns the number of records.
func (r *Rows) Len() int { return r.n }

// Seq returns the number of record i.
func (r *Rows) Seq(i int) stream.Seq { return stream.Seq(r.seqs[i]) }

// Bits returns a column's values as fields hold them: sign-extended, and for U64
// and seq the bit pattern. It must not be changed.
func (r *Rows) Bits(column int) []int64 { return r.vals[column][:r.n] }

// At returns the value of record i in a column.
func (r *Rows) At(i, column int) Value {
	c := r.Columns[column]
	return fieldValue(uint64(r.vals[column][i]), c.Kind, c.Scale)
}

// Record appends record i, whole, in row form to dst.
func (r *Rows) Record(dst []byte, i int) ([]byte, error) {
	return r.g.Record(dst, int(r.seqs[i]-r.g.First()))
}

// Limit ends Rows after n records; 0 is no limit.
func (q *Query) Limit(n int) *Query {
	if n < 0 {
		q.fail("at most %d records", n)
	}
	q.limit = n
	return q
}

// Last keeps the last n of the records that Rows would yield; 0 keeps all.
func (q *Query) Last(n int) *Query {
	if n < 0 {
		q.fail("the last %d records", n)
	}
	q.last = n
	return q
}

// Reverse makes Rows yield the records from the last to the first.
func (q *Query) Reverse() *Query {
	q.reverse = true
	return q
}

// rowsWindow is the number of records in a Rows, at most.
const rowsWindow = 2048

// Rows yields the records for which the condition holds, by number, with these
// fields, or seq, ts and all fields where none are named. Nothing is read before
// the loop begins. An error comes last, with nil Rows. Records that are gone are
// passed over: Snapshot.Dropped names them. Aggregation's settings (By, Every,
// Top) are errors here.
func (q *Query) Rows(ctx context.Context, fields ...string) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		s, err := q.rowScan(ctx, fields)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.w.finish()
		if err := s.run(yield); err != nil {
			yield(nil, err)
		}
	}
}

// A rowScan is one loop over Rows.
type rowScan struct {
	q       *Query
	w       *worker
	p       *plan
	out     Rows
	left    int // records still wanted; -1 is all
	reverse bool
}

func (q *Query) rowScan(ctx context.Context, fields []string) (*rowScan, error) {
	p, err := q.plan(nil)
	if err != nil {
		return nil, err
	}
	if len(p.keys) > 0 || p.every > 0 || q.top > 0 {
		return nil, fmt.Errorf("%w: records are not grouped", ErrInvalid)
	}
	s := &rowScan{q: q, p: p, left: -1, reverse: q.reverse}
	if len(fields) == 0 {
		fields = []string{"seq", "ts"}
		for i := range q.s.NumFields() {
			fields = append(fields, q.s.Field(i).Name)
		}
	}
	for _, name := range fields {
		c, err := lookup(q.s, name, 0)
		if err != nil {
			return nil, err
		}
		s.out.Columns = append(s.out.Columns, Column{Name: name, Kind: c.kind, Scale: c.scale, Time: c.id == colTime})
		s.out.ids = append(s.out.ids, c.id)
		s.out.vals = append(s.out.vals, nil)
	}
	s.out.s = q.s
	if q.limit > 0 {
		s.left = q.limit
	}
	s.w = workerPool.Get().(*worker)
	s.w.reset(ctx, p)
	return s, nil
}

func (s *rowScan) run(yield func(*Rows, error) bool) error {
	from, to := s.p.seqs()
	if s.q.last > 0 && !s.reverse {
		at, err := s.lastFrom(from, to)
		if err != nil {
			return err
		}
		from = max(from, at)
		s.p.where = combine(opAnd, []*tree{s.p.where, leaf(colSeq, schema.U64, set{{from, ^uint64(0)}})})
	}
	if s.q.last > 0 && s.reverse && (s.left < 0 || s.q.last < s.left) {
		s.left = s.q.last
	}
	return s.walk(from, to, s.reverse, s.out.ids, s.take, func() bool {
		return s.out.n == 0 || yield(&s.out, nil) && s.left != 0
	})
}

// lastFrom returns the number of the first of the last records.
func (s *rowScan) lastFrom(from, to uint64) (seq uint64, err error) {
	left := s.q.last
	seq = to
	err = s.walk(from, to, true, nil, func(sel []uint32, n int) {
		b := s.w.b
		at := max(0, n-left)
		left -= n - at
		if sel != nil {
			at = int(sel[at])
		}
		seq = b.g.First() + uint64(b.lo+at)
	}, func() bool { return left > 0 })
	return seq, err
}

// walk goes through the windows that have records for which the condition
// holds: take gets the positions in the window (nil for all) and their number,
// and may fault; then give tells whether to go on.
func (s *rowScan) walk(from, to uint64, reverse bool, cols []int, take func(sel []uint32, n int), give func() bool) error {
	if s.p.where == never {
		return nil
	}
	w := s.w
	var err error
	if w.parts, _, err = parts(w.parts[:0], s.q.v, from, to); err != nil {
		return err
	}
	for k := range w.parts {
		i := k
		if reverse {
			i = len(w.parts) - 1 - k
		}
		if next := i + 1; k > 0 || s.left < 0 { // a short answer is found without more
			if reverse {
				next = i - 1
			}
			if next >= 0 && next < len(w.parts) {
				w.willNeed(&w.parts[next], cols)
			}
		}
		more, err := s.part(&w.parts[i], reverse, cols, take, give)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *rowScan) part(pt *part, reverse bool, cols []int, take func(sel []uint32, n int), give func() bool) (more bool, err error) {
	w := s.w
	if !w.turn(pt) {
		pt.Skip()
		return true, nil
	}
	pt.Count()
	g, err := pt.Acquire()
	if err != nil {
		return false, err
	}
	defer pt.Release()
	var lo, hi int
	var t *tree
	err = disk.Guard(func() (err error) {
		if lo, hi, t, err = narrow(w.b, g, w.left, pt.sorted()); err != nil {
			return err
		}
		w.cols = t.columns(append(w.cols[:0], cols...))
		return w.b.open(g, w.cols)
	})
	for more = true; more && err == nil && lo < hi; {
		if err = w.ctx.Err(); err != nil {
			break
		}
		i, j := lo, min(lo+rowsWindow, hi)
		if reverse {
			i, j = max(lo, hi-rowsWindow), hi
		}
		n := 0
		err = disk.Guard(func() error {
			var sel []uint32
			if sel, n = w.pick(i, j, t); n > 0 {
				take(sel, n)
			}
			return nil
		})
		if err == nil && n > 0 {
			more = give()
		}
		if reverse {
			hi = i
		} else {
			lo = j
		}
	}
	return more, err
}

// take copies the selected records of the window to out, in the order wanted.
func (s *rowScan) take(sel []uint32, n int) {
	b, out := s.w.b, &s.out
	keep := n
	if s.left >= 0 {
		keep = min(n, s.left)
		s.left -= keep
	}
	out.g, out.n = b.g, keep
	at := func(i int) int { // position in the window of the i-th record to give
		if s.reverse {
			i = n - 1 - i
		}
		if sel != nil {
			return int(sel[i])
		}
		return i
	}
	if cap(out.seqs) < keep {
		out.seqs = make([]uint64, rowsWindow)
	}
	out.seqs = out.seqs[:keep]
	for i := range out.seqs {
		out.seqs[i] = b.g.First() + uint64(b.lo+at(i))
	}
	for c, id := range out.ids {
		if out.vals[c] == nil {
			out.vals[c] = make([]int64, rowsWindow)
		}
		dst := out.vals[c][:keep]
		src := b.wide(id)
		for i := range dst {
			dst[i] = int64(src[at(i)])
		}
	}
}
