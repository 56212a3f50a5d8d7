package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Reader reads a stream beside its writer, from this process or another, or
// with no writer at all. It takes no lock and writes nothing: read-only media
// and a full disk are all right. Its methods may be called from any number of
// goroutines.
//
// What it sees are whole batches: on a Commit stream those that are known to be
// durable, on others all that are in the journal. After a power loss the last
// acknowledged batches may not be known to be durable before a writer has
// opened the stream.
type Reader struct {
	fsys   disk.FS
	dir    string
	schema *schema.Schema
	gone   absence

	views views
	mu    sync.Mutex // one look at a time
	info  Info
	end   uint64 // of the present view
	state sightState
	seen  bool
	done  bool
	ahead follow
}

// A follow reads the newest journal on, so that not every new batch needs a look
// at everything.
type follow struct {
	f   *journal.Follower // nil: look at everything
	mem *memory           // shown by the present view; rows beyond the end are added
	n   int               // bytes of rows that are there
}

// OpenReader opens a stream for reading. Damage of records does not keep it
// from opening: reading them is an error that names them. Errors: ErrNotFound,
// ErrCorrupt (stream.json or drops.json), ErrVersion.
func OpenReader(dir string) (*Reader, error) { return OpenReaderOn(disk.OS(), dir) }

// OpenReaderOn is OpenReader on another disk, for the tests of this module.
func OpenReaderOn(fsys disk.FS, dir string) (*Reader, error) {
	info, err := readInfo(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("ledger: read %s: %w", dir, err)
	}
	r := &Reader{fsys: fsys, dir: dir, schema: info.Schema, gone: absence{fsys, dir, info.ID}}
	if err := r.look(); err != nil {
		return nil, fmt.Errorf("ledger: read %s: %w", dir, err)
	}
	return r, nil
}

// Schema returns the stream's schema.
func (r *Reader) Schema() *schema.Schema { return r.schema }

// Info returns what the stream was when it was last looked at.
func (r *Reader) Info() Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

// Snapshot looks at the stream again and takes a snapshot of what is there now.
func (r *Reader) Snapshot() (*Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil, ErrClosed
	}
	if err := r.refresh(); err != nil {
		return nil, fmt.Errorf("ledger: read %s: %w", r.dir, err)
	}
	return newSnapshot(r.views.acquire(), r.schema, r.end, &r.gone), nil
}

// refresh looks again unless nothing has changed.
func (r *Reader) refresh() error {
	if r.seen {
		now, err := r.glance()
		if err == nil && (now == r.state || r.readOn(now)) {
			return nil
		}
	}
	return r.look()
}

// readOn follows the newest journal to where the cursors page says that the
// writer is. It tells whether that is all: after a roll it is not.
func (r *Reader) readOn(now sightState) bool {
	a := &r.ahead
	if a.f == nil || now.cursor.Generation != r.state.cursor.Generation {
		return false
	}
	rows, more, err := a.f.Next(a.mem.rows[:a.n:len(a.mem.rows)])
	if err != nil || more || len(rows) > len(a.mem.rows) {
		return false
	}
	a.n = len(rows)
	end, want := a.f.Seq(), now.published
	if r.info.Durability == Commit {
		want = now.cursor.Durable
		end = min(end, want)
	}
	if end < want {
		return false
	}
	r.end = max(r.end, end)
	r.state = now
	return true
}

// sightState is what changes when a stream does.
type sightState struct {
	cursor    meta.Cursors
	published uint64
}

// glance reads the cursors page only. Without a valid one every look is a full one.
func (r *Reader) glance() (sightState, error) {
	b, err := readWhole(r.fsys, filepath.Join(r.dir, meta.CursorFile), smallFile)
	if err != nil || len(b) < meta.PublishedAt+8 {
		return sightState{}, errors.Join(err, fs.ErrNotExist)
	}
	c, ok, err := meta.DecodeCursors(b)
	if err != nil || !ok {
		return sightState{}, errors.Join(err, fs.ErrNotExist)
	}
	return sightState{cursor: c, published: meta.Published(b)}, nil
}

// looks bounds how often a look is tried again when it doesn't make sense: a writer
// beside us may move a record from a journal to a file, or retention take a file,
// between our reading the one and the other. The next look sees where it went, so
// the same complaint twice is damage. Others are a writer that goes on.
const looks = 1000

// look reads the directory and installs what it found as the present view.
func (r *Reader) look() error {
	state, serr := r.glance()
	var v *sight
	var err error
	var before string
	damaged := false
	for range looks {
		v, err = look(r.fsys, r.dir, false, r.known())
		now := r.complaint(v, err)
		if damaged = now != "" && now == before; damaged || now == "" {
			break
		}
		before = now
	}
	if err != nil {
		return err
	}
	r.install(v, damaged)
	r.state, r.seen = state, serr == nil
	return nil
}

// behind tells whether a look ends with a sealed file, and the writer had
// published more before: the file may end inside a batch, and the journal that
// the batch goes on in was read too early.
func (r *Reader) behind(v *sight) bool {
	end := v.end()
	now, err := r.glance()
	if err != nil || end != v.sealedEnd() {
		return false
	}
	if v.info.Durability == Commit {
		return now.cursor.Durable > end
	}
	return now.published > end
}

// complaint says what makes no sense in a look, "" if all does: by where it begins,
// as what lies behind may change from one look to the next.
func (r *Reader) complaint(v *sight, err error) string {
	if err != nil {
		return err.Error()
	}
	if err := v.refusal(); err != nil {
		if c, ok := errors.AsType[*CorruptError](err); ok {
			return fmt.Sprintf("%s from %d", c.Path, c.From)
		}
		return err.Error()
	}
	if len(v.plan.Lost) > 0 {
		return fmt.Sprintf("lost from %d", v.plan.Lost[0].From)
	}
	if r.behind(v) {
		return fmt.Sprintf("behind %d", v.end())
	}
	return ""
}

func (r *Reader) known() map[string]*segment.File {
	if v := r.views.present.Load(); v != nil {
		return v.byName()
	}
	return nil
}

// install makes what was seen the present view. Of a damaged stream it shows all
// that can be had, up to where records are known to have been.
func (r *Reader) install(v *sight, damaged bool) {
	r.unfollow()
	r.info = v.info
	p := v.plan
	n := &view{drops: v.drops.Ranges, bad: v.bad, dir: r.dir}
	end := v.end()
	if damaged {
		n.start = new(dropRanges(v.drops).Skip(0))
	}
	kept := make(map[*segment.File]bool)
	for _, f := range v.files {
		n.files = append(n.files, newSealed(f, 0))
		kept[f] = true
	}
	for i, l := range p.Live {
		rows, ok := p.Rows(nil, l.First, l.End)
		if !ok {
			continue
		}
		m := &memory{first: l.First, rows: rows}
		if i == len(p.Live)-1 && !damaged {
			r.follow(v, l, m)
		}
		n.mems = append(n.mems, m)
	}
	if k := len(p.Missing); k > 0 && damaged {
		n.mems = append(n.mems, strays(p)...)
		if end = max(end, p.Missing[k-1].To); v.info.Durability != Commit {
			end = max(end, p.Next)
		}
	}
	r.end = end
	var gone []retired
	if old := r.views.present.Load(); old != nil {
		for _, f := range old.files {
			if !kept[f.File] {
				gone = append(gone, retired{free: func() { f.Evict() }})
			}
		}
	}
	r.views.install(n, gone...)
}

// strays are the good frames behind the stop, which a hole keeps from being
// replayed.
func strays(p *journal.Plan) []*memory {
	var out []*memory
	for _, x := range p.Strays {
		out = append(out, &memory{first: x.Frame.First, rows: x.Scan.Records(x.Frame)})
	}
	slices.SortStableFunc(out, func(a, b *memory) int { return cmp.Compare(a.first, b.first) })
	return out
}

// follow prepares to read on in the newest journal, if replay ended in it.
func (r *Reader) follow(v *sight, l journal.Live, m *memory) {
	if l.Scan.Header.Generation != v.plan.Generation || l.Scan.End != v.plan.Stop || v.plan.Next != v.plan.Stop {
		return
	}
	f, err := journal.Follow(r.fsys, r.dir, l.Scan)
	if err != nil {
		return // then every look is a full one
	}
	n := len(m.rows)
	m.rows = append(m.rows, make([]byte, max(0, v.info.Capacity*v.info.Schema.Width()-n))...)
	r.ahead = follow{f: f, mem: m, n: n}
}

// unfollow closes the journal that was read on.
func (r *Reader) unfollow() {
	if r.ahead.f != nil {
		_ = r.ahead.f.Close()
	}
	r.ahead = follow{}
}

// Cursors returns how far the writer is, as its cursors page says: Appended is
// Published. Without a page it is what the last look found.
func (r *Reader) Cursors() Cursors {
	state, err := r.glance()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || state.cursor.ID != r.gone.id {
		return Cursors{Appended: Seq(r.end), Published: Seq(r.end)}
	}
	return Cursors{Appended: Seq(state.published), Published: Seq(state.published), Durable: Seq(state.cursor.Durable)}
}

// Stats returns the figures that a reader can know: those of what is there.
func (r *Reader) Stats() (Stats, error) {
	n, err := r.Snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer n.Close()
	c := r.Cursors()
	st := Stats{NextSeq: n.End(), DurableSeq: c.Durable, Snapshots: int(r.views.snapshots()), Leaked: leaked.Load()}
	for _, d := range n.v.drops {
		st.Dropped += d.To - d.From
	}
	if err := st.add(n); err != nil {
		return Stats{}, err
	}
	st.Consumers, st.ConsumersErr = st.consumersOf(n, r.fsys, r.dir, r.gone.id)
	return st, nil
}

// Close closes the reader. Snapshots live on.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return ErrClosed
	}
	r.done = true
	r.unfollow()
	r.views.close()
	return nil
}
