package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"sync/atomic"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Snapshot is a frozen view of a stream: whole batches, from the first record
// that retention left to the last one published when it was taken. Taking one
// costs the same at any number of segments. It keeps what it shows from being
// unmapped, unlinked and used again until it is closed: close it. It may be
// used from any number of goroutines, and after the stream was closed.
type Snapshot struct {
	v      *view
	s      *schema.Schema
	first  uint64
	end    uint64
	stats  scanCounters
	closed atomic.Bool

	gone *absence
}

// An absence says why a file that a snapshot shows is not there any more: a
// writer in another process has dropped it, or, where the snapshot is older than
// the last Close, a later writer.
type absence struct {
	fsys disk.FS
	dir  string
	id   [16]byte
}

// of is nil if nothing says why.
func (a *absence) of(h segment.Header) error {
	d, err := readDrops(a.fsys, a.dir, a.id)
	if err != nil {
		return err
	}
	for _, x := range d.Ranges {
		if x.From <= h.First && h.End() <= x.To {
			return &DroppedError{From: Seq(h.First), To: Seq(h.End()), Reason: x.Reason}
		}
	}
	return nil
}

// scanCounters count what reading did, for Stats.
type scanCounters struct {
	read, skipped atomic.Int64
}

// ScanStats say what the iterators of a snapshot have read so far.
type ScanStats struct {
	SegmentsRead    int // whose values were looked at
	SegmentsSkipped int // that a header ruled out
}

// leaked counts snapshots that were collected without having been closed.
var leaked atomic.Int64

// Snapshot takes a snapshot of what is published now; after Close, of what was
// published then. Other writers are not seen: see OpenReader.
func (s *Stream) Snapshot() (*Snapshot, error) {
	end := s.published.Load() // first: the view is at least as new
	return newSnapshot(s.views.acquire(), s.schema, end, &s.gone), nil
}

func newSnapshot(v *view, sch *schema.Schema, end uint64, gone *absence) *Snapshot {
	n := &Snapshot{v: v, s: sch, first: v.first(end), end: end, gone: gone}
	runtime.SetFinalizer(n, (*Snapshot).collect)
	return n
}

// collect reports a snapshot that nobody closed, and gives back what it holds.
func (n *Snapshot) collect() {
	if n.Close() != nil {
		return
	}
	leaked.Add(1)
	if tell := n.v.owner.leaked; tell != nil {
		tell()
	}
}

// Close gives back what the snapshot holds. Batches, segments and columns that
// came from it must not be used any more. A second time it returns ErrClosed.
func (n *Snapshot) Close() error {
	if n.closed.Swap(true) {
		return ErrClosed
	}
	runtime.SetFinalizer(n, nil)
	n.v.release()
	return nil
}

// First is the number of the first record that is there: 0, or above what
// retention took. It is End if there is none.
func (n *Snapshot) First() Seq { return Seq(n.first) }

// End is the number behind the last record.
func (n *Snapshot) End() Seq { return Seq(n.end) }

// Schema returns the stream's schema.
func (n *Snapshot) Schema() *schema.Schema { return n.s }

// Stats says what reading this snapshot has done so far.
func (n *Snapshot) Stats() ScanStats {
	return ScanStats{SegmentsRead: int(n.stats.read.Load()), SegmentsSkipped: int(n.stats.skipped.Load())}
}

// Dropped returns the ranges that are gone, as drops.json has them, by number.
func (n *Snapshot) Dropped() []DroppedError {
	out := make([]DroppedError, len(n.v.drops))
	for i, d := range n.v.drops {
		out[i] = DroppedError{From: Seq(d.From), To: Seq(d.To), Reason: d.Reason}
	}
	return out
}

// missing is the error for a record that no segment has.
func (n *Snapshot) missing(seq, upTo uint64) error {
	for _, d := range n.v.drops {
		if d.From <= seq && seq < d.To {
			return &DroppedError{From: Seq(d.From), To: Seq(d.To), Reason: d.Reason}
		}
		if d.From > seq {
			upTo = min(upTo, d.From)
		}
	}
	for _, b := range n.v.bad {
		if b.first >= seq && b.first < upTo {
			return &CorruptError{Path: filepath.Join(n.v.dir, b.name), Offset: -1, From: seq, To: upTo, Err: b.err}
		}
	}
	return &CorruptError{Offset: -1, From: seq, To: upTo, Detail: "no segment has these records, and nothing says that they were dropped"}
}

// acquire maps a file. One that is gone from the directory is named.
func (n *Snapshot) acquire(f *segment.File) (segment.Segment, error) {
	g, err := f.Acquire()
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return g, err
	}
	h := f.Header()
	if why := n.gone.of(h); why != nil {
		return g, why
	}
	return g, &CorruptError{Path: f.Path(), Offset: -1, From: h.First, To: h.End(), Err: err}
}

// A Part is what one segment holds of a range of a snapshot.
type Part struct {
	n     *Snapshot
	file  *segment.File // nil for a segment in memory
	mem   *memory
	index int // of the file in the view
	First Seq // of its records in the range
	End   Seq
}

// Len is the number of records.
func (p Part) Len() int { return int(p.End - p.First) }

// Header returns the header of a sealed segment; ok is false for one in memory.
// Its bounds are those of the whole segment.
func (p Part) Header() (h segment.Header, ok bool) {
	if p.file == nil {
		return h, false
	}
	return p.file.Header(), true
}

// Bounds returns the smallest and largest value of a field in the whole sealed
// segment, as bits of its kind; ok is false where they are not known without
// reading values. Times are in Header.
func (p Part) Bounds(field int) (lo, hi int64, ok bool) {
	if p.file == nil {
		return 0, 0, false
	}
	return p.file.Bounds(field)
}

// Acquire returns the part's records, mapping the file if it is not mapped yet.
// Release ends their use.
func (p Part) Acquire() (segment.Segment, error) {
	if p.n.closed.Load() {
		return segment.Segment{}, ErrClosed
	}
	if p.file == nil {
		lo := p.First - Seq(p.mem.first)
		hi := p.End - Seq(p.mem.first)
		w := Seq(p.n.s.Width())
		return segment.FromRows(p.n.s, uint64(p.First), p.mem.rows[lo*w:hi*w]), nil
	}
	g, err := p.n.acquire(p.file)
	if err != nil {
		return segment.Segment{}, err
	}
	base := Seq(p.file.Header().First)
	return g.Slice(int(p.First-base), int(p.End-base)), nil
}

// Release ends the use of what Acquire returned without an error.
func (p Part) Release() {
	if p.file != nil {
		p.file.Release()
	}
}

// Skip counts the part as ruled out, for Stats.
func (p Part) Skip() { p.n.stats.skipped.Add(1) }

// Count counts the part as read, for Stats.
func (p Part) Count() { p.n.stats.read.Add(1) }

// Parts yields the segments that hold records of [from, to), in order, without
// opening them. A range that is not there comes as a DroppedError, behind which
// the loop may go on, or as a CorruptError.
func (n *Snapshot) Parts(from, to Seq) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		if n.closed.Load() {
			yield(Part{}, ErrClosed)
			return
		}
		seq, end := uint64(from), min(uint64(to), n.end)
		hint := 0
		for seq < end {
			p, at := n.find(seq, hint)
			hint = p.index + 1
			if at > seq { // nothing holds seq
				err := n.missing(seq, min(at, end))
				if d, ok := err.(*DroppedError); ok {
					at = uint64(d.To)
				}
				if !yield(Part{}, err) {
					return
				}
				seq = at
				continue
			}
			p.First, p.End = Seq(seq), min(p.End, Seq(end))
			if !yield(p, nil) {
				return
			}
			seq = uint64(p.End)
		}
	}
}

// find returns the part that holds seq, with at equal to seq, or the number
// above seq where the next one begins. hint is the index of the file that a walk
// comes to next.
func (n *Snapshot) find(seq uint64, hint int) (p Part, at uint64) {
	files := n.v.files
	i := hint // where a walk expects it
	if i >= len(files) || files[i].end <= seq || i > 0 && files[i-1].end > seq {
		i = locate(files, seq)
	}
	at = n.end
	if i < len(files) {
		f := &files[i]
		p, at = Part{n: n, file: f.File, index: i, First: Seq(f.first), End: Seq(f.end)}, max(seq, f.first)
		if at == seq {
			return p, at
		}
	}
	// Behind the files, as a rule; a power loss may leave a file above a journal.
	for k, m := range n.v.mems {
		if m.first >= at {
			break
		}
		if end := n.memEnd(k); end > seq {
			return Part{n: n, mem: m, First: Seq(m.first), End: Seq(end)}, max(seq, m.first)
		}
	}
	return p, at
}

// locate returns the index of the first file that ends behind seq. Files mostly
// have the same number of records, so it looks where seq would then be: a search
// by halves costs a wrong guess of the processor every other step.
func locate(files []sealed, seq uint64) int {
	if len(files) == 0 {
		return 0
	}
	first := files[0].first
	if each := files[0].end - first; seq >= first && each > 0 {
		i := (seq - first) / each
		if i < uint64(len(files)) && files[i].end > seq && (i == 0 || files[i-1].end <= seq) {
			return int(i)
		}
	}
	return sort.Search(len(files), func(i int) bool { return files[i].end > seq })
}

// memEnd is the number behind the last record that the snapshot has of segment
// k in memory; below the segment's first if it has none.
func (n *Snapshot) memEnd(k int) uint64 {
	m := n.v.mems[k]
	end := min(n.end, m.first+uint64(len(m.rows)/n.s.Width()))
	if k+1 < len(n.v.mems) {
		end = min(end, n.v.mems[k+1].first)
	}
	return end
}

// Get appends record seq in the form of docs/format.md to dst, of which only
// what lies beyond its length is written. Errors: ErrNotFound above the end,
// ErrDropped, ErrCorrupt.
func (n *Snapshot) Get(dst []byte, seq Seq) ([]byte, error) {
	if n.closed.Load() {
		return dst, ErrClosed
	}
	if uint64(seq) >= n.end {
		return dst, fmt.Errorf("%w: record %d: the next one is %d", ErrNotFound, seq, n.end)
	}
	p, at := n.find(uint64(seq), 0)
	if at > uint64(seq) {
		return dst, n.missing(uint64(seq), at)
	}
	if p.file == nil {
		w := n.s.Width()
		i := int(uint64(seq)-p.mem.first) * w
		return append(dst, p.mem.rows[i:i+w]...), nil
	}
	g, err := n.acquire(p.file)
	if err != nil {
		return dst, err
	}
	dst, err = g.Record(dst, int(uint64(seq)-p.file.Header().First))
	p.file.Release()
	return dst, err
}

// SegmentInfo describes one segment.
type SegmentInfo struct {
	File             string // name in the stream's directory; "" for one in memory
	First            Seq
	Count            uint64
	MinTime, MaxTime int64 // in the stream's unit; 0 for an empty one
	SealedAt         int64 // Unix milliseconds; 0 for one in memory
	Bytes            int64 // of the file, or of the rows in memory
	Layout           segment.Layout
	State            string // "sealed", "sealing" or "active"
}

// Segments describes the segments, oldest first. Times of those in memory are
// found by reading them.
func (n *Snapshot) Segments() ([]SegmentInfo, error) {
	if n.closed.Load() {
		return nil, ErrClosed
	}
	var out []SegmentInfo
	for _, f := range n.v.files {
		h := f.Header()
		if h.First >= n.end {
			break
		}
		out = append(out, SegmentInfo{File: segment.Name(h.First), First: Seq(h.First), Count: h.Count, MinTime: h.MinTime,
			MaxTime: h.MaxTime, SealedAt: h.SealedAt, Bytes: f.Size(), Layout: f.Layout(), State: "sealed"})
	}
	for k, m := range n.v.mems {
		end, state := n.memEnd(k), "active"
		if k+1 < len(n.v.mems) {
			state = "sealing"
		}
		if m.first > end {
			continue
		}
		rows := m.rows[:(end-m.first)*uint64(n.s.Width())]
		lo, hi := timeBounds(n.s, rows)
		out = append(out, SegmentInfo{First: Seq(m.first), Count: end - m.first, MinTime: lo, MaxTime: hi,
			Bytes: int64(len(rows)), Layout: segment.Rows, State: state})
	}
	slices.SortStableFunc(out, func(a, b SegmentInfo) int { return cmp.Compare(a.First, b.First) })
	return out, nil
}

// timeBounds returns the smallest and largest time of rows, 0 and 0 if there are none.
func timeBounds(s *schema.Schema, rows []byte) (lo, hi int64) {
	w := s.Width()
	for i := 0; i+w <= len(rows); i += w {
		t := schema.Time(rows[i:])
		if i == 0 {
			lo, hi = t, t
		}
		lo, hi = min(lo, t), max(hi, t)
	}
	return lo, hi
}

// files by name, for those that look again.
func (v *view) byName() map[string]*segment.File {
	m := make(map[string]*segment.File, len(v.files))
	for _, f := range v.files {
		m[segment.Name(f.Header().First)] = f.File
	}
	return m
}
