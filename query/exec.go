package query

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

var workerPool = sync.Pool{New: func() any { return newWorker() }}

// execute scans all parts and returns the groups.
func (q *Query) execute(ctx context.Context, p *plan) (*groups, Stats, error) {
	x := &execution{ctx: ctx, p: p}
	first := workerPool.Get().(*worker)
	first.reset(ctx, p)
	workers := []*worker{first}
	defer func() {
		for _, w := range workers {
			w.finish()
		}
	}()
	var stats Stats
	var err error
	if stats.Gone, err = x.list(q, first); err != nil {
		return nil, stats, err
	}
	for len(workers) < q.workersFor(x.parts) {
		w := workerPool.Get().(*worker)
		w.reset(ctx, p)
		workers = append(workers, w)
	}
	x.workers = len(workers)
	if x.workers == 1 {
		x.run(first)
	} else {
		var wg sync.WaitGroup
		for _, w := range workers {
			wg.Go(func() { x.run(w) })
		}
		wg.Wait()
	}
	if x.err != nil {
		return nil, stats, x.err
	}
	stats.Read = int(x.read.Load())
	stats.Skipped = x.listed - stats.Read
	out := &groups{}
	*out, first.groups = first.groups, *out // the result keeps them
	for _, w := range workers[1:] {
		if err := out.addAll(&w.groups); err != nil {
			return nil, stats, err
		}
	}
	if out.width == 0 && out.n == 0 {
		_, err = out.find(nil)
	}
	return out, stats, err
}

// An execution is one run of a query, shared by its workers.
type execution struct {
	ctx     context.Context
	p       *plan
	listed  int    // parts of the range
	parts   []part // that headers don't rule out
	workers int
	next    atomic.Int64
	read    atomic.Int64

	cold atomic.Bool // a part took so long that it may be worth asking for others ahead

	mu    sync.Mutex
	asked int // parts below have been asked for, or were never worth it
	err   error
	errAt int // the part that err is of
}

// list makes the list of parts, in the memory of w, and returns what is gone.
func (x *execution) list(q *Query, w *worker) (gone []stream.DroppedError, err error) {
	if x.p.where == never {
		return nil, nil
	}
	from, to := x.p.seqs()
	w.parts, gone, err = parts(w.parts[:0], q.v, from, to)
	x.listed = len(w.parts)
	n := 0
	for i := range w.parts {
		pt := &w.parts[i]
		w.part = pt
		clear(w.zone)
		if pt.Len() == 0 || x.p.where.under(w.cheapOf) == never {
			pt.Skip()
			continue
		}
		w.parts[n] = *pt
		n++
	}
	x.parts = w.parts[:n]
	return gone, err
}

// run takes part after part until none is left or one failed.
func (x *execution) run(w *worker) {
	for {
		i := int(x.next.Add(1) - 1)
		if i >= len(x.parts) {
			break
		}
		if err := x.part(w, i); err != nil {
			x.fail(err, i)
			return
		}
	}
	if err := w.flush(); err != nil {
		x.fail(err, len(x.parts))
	}
}

// part scans one part.
func (x *execution) part(w *worker, i int) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if x.cold.Load() {
		x.askAhead(w, i)
	}
	began := time.Now()
	read, err := w.scan(&x.parts[i])
	if !read {
		x.parts[i].Skip()
		return err
	}
	if time.Since(began) > slowPart {
		x.cold.Store(true)
	}
	x.read.Add(1)
	x.parts[i].Count()
	return err
}

const (
	// slowPart is the time that a part takes if its columns come from disk. To ask
	// for them ahead costs a system call each, a few per cent of the time of a part
	// that is in memory, and nothing beside this.
	slowPart = 200 * time.Microsecond
	// aheadParts and aheadRecords bound what is asked for ahead.
	aheadParts   = 16
	aheadRecords = 1 << 21
)

// askAhead asks for the columns of the parts behind part i.
func (x *execution) askAhead(w *worker, i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = max(x.asked, i+1)
	records := 0
	for k := i + 1; k < min(len(x.parts), i+1+aheadParts); k++ {
		records += x.parts[k].Len()
		if k > i+x.workers && records > aheadRecords {
			return
		}
		if k >= x.asked {
			w.willNeed(&x.parts[k], x.p.cols)
			x.asked = k + 1
		}
	}
}

// fail ends the execution. Of several errors that of the first part counts, so
// that it doesn't depend on who was faster.
func (x *execution) fail(err error, part int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil || part < x.errAt {
		x.err, x.errAt = err, part
	}
	x.next.Store(int64(len(x.parts)))
}

// willNeed asks for the columns of a part ahead: those of the condition, and cols.
func (w *worker) willNeed(pt *part, cols []int) {
	if !w.turn(pt) {
		return
	}
	g, err := pt.Acquire()
	if err != nil {
		return // scan will say so
	}
	w.cols = w.left.columns(append(w.cols[:0], cols...))
	for _, c := range w.cols {
		if c != colSeq {
			g.WillNeed(c)
		}
	}
	pt.Release()
}

// groupsKept is the number of groups whose memory a worker keeps for the next query.
const groupsKept = 1 << 14

// finish gives the worker back. Its table is empty again.
func (w *worker) finish() {
	if w.tab.filled {
		w.clear()
	}
	w.b.close()
	w.ctx, w.p, w.part, w.left, w.g = nil, nil, nil, nil, segment.Segment{}
	clear(w.parts)
	if w.groups.p = nil; w.groups.n > groupsKept {
		w.groups = groups{}
	}
	workerPool.Put(w)
}
