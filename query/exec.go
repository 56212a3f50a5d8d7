package query

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

var workerPool = sync.Pool{New: func() any { return new(worker) }}

// execute scans all parts and returns the groups.
func (q *Query) execute(ctx context.Context, p *plan) (*groups, Stats, error) {
	var stats Stats
	from, to := p.seqs()
	var parts []part
	if p.where != never {
		var err error
		if parts, stats.Gone, err = q.src.parts(nil, from, to); err != nil {
			return nil, stats, err
		}
	}
	x := &execution{ctx: ctx, p: p, cols: p.columns()}
	x.parts = x.wanted(parts)
	stats.Skipped = len(parts) - len(x.parts)
	n := q.workersFor(x.parts)
	workers := make([]*worker, n)
	for i := range workers {
		workers[i] = workerPool.Get().(*worker)
		workers[i].reset(ctx, p)
	}
	defer func() {
		for _, w := range workers {
			w.finish()
		}
	}()
	if n == 1 {
		x.run(workers[0], n)
	} else {
		var wg sync.WaitGroup
		for _, w := range workers {
			wg.Go(func() { x.run(w, n) })
		}
		wg.Wait()
	}
	if x.err != nil {
		return nil, stats, x.err
	}
	stats.Read = int(x.read.Load())
	stats.Skipped += len(x.parts) - stats.Read
	out := &groups{}
	out.reset(p)
	for _, w := range workers {
		if err := out.addAll(&w.groups); err != nil {
			return nil, stats, err
		}
	}
	if out.width == 0 && out.n == 0 {
		if _, err := out.find(nil); err != nil {
			return nil, stats, err
		}
	}
	return out, stats, nil
}

// An execution is one run of a query, shared by its workers.
type execution struct {
	ctx   context.Context
	p     *plan
	cols  []int // that the plan needs, besides the condition's
	parts []part
	next  atomic.Int64
	read  atomic.Int64

	mu    sync.Mutex
	err   error
	errAt int // the part that err is of
}

// wanted keeps the parts that their headers don't rule out.
func (x *execution) wanted(parts []part) []part {
	w := workerPool.Get().(*worker)
	defer workerPool.Put(w)
	w.reset(x.ctx, x.p)
	out := parts[:0]
	for _, pt := range parts {
		w.turn(pt)
		if pt.len() > 0 && x.p.where.under(w.cheap) != never {
			out = append(out, pt)
		} else {
			pt.count(false)
		}
	}
	return out
}

// run takes part after part until none is left or one failed.
func (x *execution) run(w *worker, workers int) {
	for {
		i := int(x.next.Add(1) - 1)
		if i >= len(x.parts) {
			break
		}
		err := x.ctx.Err()
		if err == nil {
			if ahead := i + workers; ahead < len(x.parts) {
				w.willNeed(x.parts[ahead], x.cols)
			}
			var read bool
			read, err = w.scan(x.parts[i])
			x.parts[i].count(read)
			if read {
				x.read.Add(1)
			}
		}
		if err != nil {
			x.fail(err, i)
			return
		}
	}
	if err := w.flush(); err != nil {
		x.fail(err, len(x.parts))
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
func (w *worker) willNeed(pt part, cols []int) {
	w.turn(pt)
	t := w.left(w.p.where)
	if t == never {
		return
	}
	g, err := pt.acquire()
	if err != nil {
		return // scan will say so
	}
	for _, c := range t.columns(slices.Clip(cols)) {
		if c != colSeq {
			g.WillNeed(c)
		}
	}
	pt.release()
}

// groupsKept is the number of groups whose memory a worker keeps for the next query.
const groupsKept = 1 << 14

// finish gives the worker back. Its table is empty again.
func (w *worker) finish() {
	if w.tab.filled {
		w.clear()
	}
	w.b.close()
	w.ctx, w.p, w.part = nil, nil, nil
	if w.groups.p = nil; w.groups.n > groupsKept {
		w.groups = groups{}
	}
	workerPool.Put(w)
}
