package stream

import (
	"slices"
	"sync"
	"sync/atomic"

	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// A memory is a segment in memory: rows that a journal backs. The writer fills
// rows above the published number; readers see what lies below it.
type memory struct {
	first uint64
	rows  []byte // capacity × width
	j     *journal.Journal

	// Under Stream.mu:
	n      int    // records in rows
	limit  int    // records that fit: fewer than rows has room for where the journal holds extensions
	born   int64  // number of the first view that shows it
	ended  bool   // full, or sealed early: nothing more goes in
	synced uint64 // records below are on disk in the journal
}

func (m *memory) end() uint64 { return m.first + uint64(m.n) }

// A sealed is a segment file that views show.
type sealed struct {
	*segment.File
	first, end uint64 // of its records: side by side, for the search
	born       int64  // number of the first view that shows it
}

func newSealed(f *segment.File, born int64) sealed {
	h := f.Header()
	return sealed{File: f, first: h.First, end: h.End(), born: born}
}

// A view is what readers see: the sealed files, then the segments in memory. It
// never changes; a roll, a seal and retention each make a new one. Making one
// costs the same at ten files and at ten thousand, as files share one array.
type view struct {
	number int64
	files  []sealed // by first number
	mems   []*memory
	drops  []meta.Drop
	bad    []badFile // names without their content (of a Reader)
	start  *uint64   // where the records begin that must be there (of a Reader of a damaged stream)
	dir    string
	refs   atomic.Int64 // snapshots, and one while it is the stream's present view
	owner  *views
}

// A retired is something that views before number `until` may still show, and
// that is given back when none of those from `born` on is left.
type retired struct {
	born, until int64
	free        func()
}

// views holds the present view and the older ones that snapshots still hold.
// Installing is the writer's; acquiring and releasing is anybody's.
type views struct {
	present atomic.Pointer[view]
	closed  atomic.Bool // no mapping is kept for a later snapshot
	leaked  func()      // told of snapshots that nobody closed; nil: nobody is

	mu      sync.Mutex
	held    []*view // present and older ones with references, by number
	waiting []retired
}

// acquire takes a reference on the present view.
func (vs *views) acquire() *view {
	for {
		v := vs.present.Load()
		n := v.refs.Load()
		if n > 0 && v.refs.CompareAndSwap(n, n+1) {
			return v
		}
	}
}

// release gives a reference back; the last one of an old view frees what only
// old views showed.
func (v *view) release() {
	if v.refs.Add(-1) == 0 {
		v.owner.reap(v)
	}
	if v.owner.closed.Load() {
		v.evict()
	}
}

// evict unmaps the view's files, those in use when they are released.
func (v *view) evict() {
	for _, f := range v.files {
		f.Evict()
	}
}

// close ends the keeping of mappings: from now on each snapshot that is closed
// takes those that it may have made with it.
func (vs *views) close() {
	vs.closed.Store(true)
	if v := vs.present.Load(); v != nil {
		v.evict()
	}
}

// install makes v the present view and retires what is in the older ones only.
// The caller is the only one that installs.
func (vs *views) install(v *view, gone ...retired) {
	old := vs.present.Load()
	v.owner = vs
	v.refs.Store(1)
	vs.mu.Lock()
	if old != nil {
		v.number = old.number + 1
	}
	vs.held = append(vs.held, v)
	for _, g := range gone {
		g.until = v.number
		vs.waiting = append(vs.waiting, g)
	}
	vs.mu.Unlock()
	vs.present.Store(v)
	if old != nil {
		old.release()
	}
}

// files returns the files of the present view.
func (vs *views) files() []sealed {
	if v := vs.present.Load(); v != nil {
		return v.files
	}
	return nil
}

// next is the number of the view that is installed next.
func (vs *views) next() int64 {
	if v := vs.present.Load(); v != nil {
		return v.number + 1
	}
	return 0
}

// reap forgets a view that nobody holds and frees what has become free.
func (vs *views) reap(v *view) {
	var free []retired
	vs.mu.Lock()
	vs.held = slices.DeleteFunc(vs.held, func(x *view) bool { return x == v })
	vs.waiting = slices.DeleteFunc(vs.waiting, func(r retired) bool {
		for _, h := range vs.held {
			if h.number >= r.born && h.number < r.until {
				return false
			}
		}
		free = append(free, r)
		return true
	})
	vs.mu.Unlock()
	for _, r := range free {
		r.free()
	}
}

// snapshots returns how many references on views snapshots hold.
func (vs *views) snapshots() (n int64) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for _, h := range vs.held {
		n += h.refs.Load()
	}
	return n - 1
}

// first returns the first number that is there, or end if none is.
func (v *view) first(end uint64) uint64 {
	if len(v.files) > 0 {
		end = min(end, v.files[0].Header().First)
	}
	if len(v.mems) > 0 {
		end = min(end, v.mems[0].first)
	}
	if v.start != nil {
		end = min(end, *v.start)
	}
	return end
}
