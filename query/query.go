package query

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// A Query is a question about a snapshot, built up by its methods, each of which
// returns the same Query. Mistakes are reported when it is run. Running doesn't
// change it: a Query that is no longer built up may be run by any number of
// goroutines, as long as the snapshot is open.
type Query struct {
	v       *stream.Snapshot
	s       *schema.Schema
	pred    Pred
	by      []string
	every   time.Duration
	workers int
	share   int // records that a further goroutine is worth
	top     int
	topBy   int
	groups  int
	limit   int
	last    int
	reverse bool
	err     error
}

const (
	// groupsMax is the default of MaxGroups.
	groupsMax = 1 << 22
	// shareMin is what one goroutine scans in a few tens of µs: another one isn't
	// worth it for less.
	shareMin = 1 << 17
)

// From begins a query of all records of a snapshot. Records that are gone are
// passed over; Stats.Gone names them.
func From(v *stream.Snapshot) *Query {
	return &Query{v: v, s: v.Schema(), groups: groupsMax, share: shareMin}
}

// Where keeps the records for which p holds. Further calls narrow it down more.
func (q *Query) Where(p Pred) *Query {
	if q.pred.n == nil {
		q.pred = p
	} else {
		q.pred = And(q.pred, p)
	}
	return q
}

// Seqs keeps the records numbered from from to to, without to.
func (q *Query) Seqs(from, to stream.Seq) *Query {
	return q.Where(And(Ge("seq", from), Lt("seq", to)))
}

// Times keeps the records with times from from to to, without to, in the
// stream's unit.
func (q *Query) Times(from, to int64) *Query {
	return q.Where(And(Ge("ts", from), Lt("ts", to)))
}

// By makes a group of all records that agree in these fields.
func (q *Query) By(fields ...string) *Query {
	q.by = append(q.by, fields...)
	return q
}

// Every makes a group of all records in one interval of time. Intervals begin at
// multiples of d since 1970. d must be a whole number of the stream's units.
func (q *Query) Every(d time.Duration) *Query {
	if d <= 0 {
		q.fail("intervals of %v", d)
	}
	q.every = d
	return q
}

// Top keeps the n groups in which column agg of the aggregates is largest,
// largest first; of equal ones, those with the lower key. n 0 keeps all, by key.
func (q *Query) Top(n, agg int) *Query {
	if n < 0 || agg < 0 {
		q.fail("the top %d by aggregate %d", n, agg)
	}
	q.top, q.topBy = n, agg
	return q
}

// Workers sets how many goroutines scan; 0 is as many as there are processors.
// The result doesn't depend on it.
func (q *Query) Workers(n int) *Query {
	q.workers = n
	return q
}

// MaxGroups bounds the groups, and with them the memory that a query may take:
// more are ErrTooMany. The default is 4,194,304.
func (q *Query) MaxGroups(n int) *Query {
	q.groups = n
	return q
}

// fail notes the first mistake.
func (q *Query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

// plan binds the query and its aggregates to the schema.
func (q *Query) plan(aggs []Agg) (*plan, error) {
	if q.err != nil {
		return nil, q.err
	}
	p := &plan{s: q.s, limit: min(q.groups, math.MaxInt32)}
	var err error
	if p.where, err = bindPred(q.s, q.pred); err != nil {
		return nil, err
	}
	for _, name := range q.by {
		c, err := lookup(q.s, name, 0)
		if err != nil {
			return nil, err
		}
		p.keys = append(p.keys, c)
	}
	if q.every > 0 {
		unit := time.Duration(int64(time.Second) / q.s.Unit().PerSecond())
		if q.every%unit != 0 {
			return nil, fmt.Errorf("%w: intervals of %v are no whole number of %v", ErrInvalid, q.every, q.s.Unit())
		}
		p.every = int64(q.every / unit)
	}
	if q.top > 0 && q.topBy >= len(aggs) {
		return nil, fmt.Errorf("%w: there is no aggregate %d to take the top of", ErrInvalid, q.topBy)
	}
	return p, p.bindAggs(aggs)
}

// Run scans the records and returns the aggregates: one row without By and
// Every, else a row for each group that has records, by key. It returns early if
// ctx ends.
func (q *Query) Run(ctx context.Context, aggs ...Agg) (*Result, error) {
	p, err := q.plan(aggs)
	if err != nil {
		return nil, err
	}
	g, stats, err := q.execute(ctx, p)
	if err != nil {
		return nil, err
	}
	return q.result(p, g, stats)
}

// Stats say what a query has read.
type Stats struct {
	Read    int // segments whose values were looked at
	Skipped int // segments that needed no look: ruled out, or answered by what is known of them
	// Gone are the ranges of the query that are no longer there, and why.
	Gone []stream.DroppedError
}

func (q *Query) workersFor(parts []part) int {
	n := q.workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	records := 0
	for i := range parts {
		records += parts[i].Len()
	}
	return max(1, min(n, len(parts), 1+records/q.share))
}

// seqs returns the range of numbers outside of which the condition can't hold.
func (p *plan) seqs() (from, to uint64) {
	if s, ok := p.where.conjunct(colSeq); ok {
		h := s.hull()
		if h.hi == math.MaxUint64 {
			return h.lo, h.hi
		}
		return h.lo, h.hi + 1
	}
	return 0, math.MaxUint64
}
