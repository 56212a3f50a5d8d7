package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A sight is what one look at a stream's directory saw.
type sight struct {
	dir     string
	entries []disk.Entry

	stream    meta.Stream // as stored, or as far as the files tell
	streamErr error       // stream.json is missing or doesn't check out

	streamBytes []byte
	tags        []uint32 // of sealed files, where streamErr is not nil
	known       bool     // id, schema and tag below are known
	id          [16]byte
	schema      *schema.Schema
	tag         uint32

	cursorPage []byte
	cursor     meta.Cursors // zero if the page doesn't count
	drops      meta.Drops
	dropsErr   error
	journals   []*journalFile
	segments   []*segmentFile
}

// A journalFile is one file of the ring, read whole.
type journalFile struct {
	name   string
	n      int
	data   []byte
	header journal.Header
	ok     bool // the header counts and is of this stream
	scan   *journal.Scan
	err    error
}

// A segmentFile is one sealed file, walked through.
type segmentFile struct {
	name  string
	first uint64 // as the name says
	size  int64
	raw   []byte // its header
	walk  *segmentWalk
	err   error // a failed read
}

// bad tells whether anything in the file is wrong.
func (f *segmentFile) bad() bool {
	return f.err != nil || slices.ContainsFunc(f.walk.ranges, func(r Range) bool { return r.Check == Bad })
}

// end is the number behind the file's last record, if its header is right.
func (f *segmentFile) end() uint64 { return f.walk.header.First + f.walk.count }

// look reads a stream's directory. The order is what makes it right beside a
// writer: what is durable, then the journals, then the names, so that records
// which leave a journal meanwhile are seen in a file; and drops.json last, so
// that it explains what retention took meanwhile. before is an earlier look,
// whose good files needn't be read again, or nil.
func look(ctx context.Context, fsys disk.FS, dir string, before *sight, progress func(done, total int64)) (*sight, error) {
	v := &sight{dir: dir}
	if err := v.readStream(fsys); err != nil {
		return nil, err
	}
	var err error
	if v.cursorPage, err = readSmall(fsys, filepath.Join(dir, meta.CursorFile)); err != nil && !notExist(err) {
		return nil, err
	}
	if err := v.readJournals(ctx, fsys); err != nil {
		return nil, err
	}
	if v.entries, err = fsys.ReadDir(dir); notExist(err) {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	} else if err != nil {
		return nil, err
	}
	if v.streamErr == nil && v.alien(fsys) {
		v.streamErr = &disk.CorruptError{Offset: -1, Detail: "of another stream than all other files"}
		v.known = false
	}
	if v.streamErr != nil {
		if err := v.infer(fsys); err != nil {
			return nil, err
		}
	}
	v.scanJournals()
	if notExist(v.streamErr) && !v.remains() {
		return nil, ErrNotFound
	}
	if c, ok, err := meta.DecodeCursors(v.cursorPage); ok && err == nil && c.ID == v.id {
		v.cursor = c
	}
	if err := v.readSegments(ctx, fsys, before, progress); err != nil {
		return nil, err
	}
	return v, v.readDrops(fsys)
}

// readSmall reads a small file whole.
func readSmall(fsys disk.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return (&source{ctx: context.Background(), r: f, size: size}).all(smallMax)
}

func (v *sight) readStream(fsys disk.FS) error {
	path := filepath.Join(v.dir, meta.StreamFile)
	b, err := readSmall(fsys, path)
	switch {
	case notExist(err):
		v.streamErr = err
		return nil
	case err != nil:
		return err
	}
	v.streamBytes = b
	if v.stream, v.streamErr = meta.DecodeStream(meta.StreamFile, b); v.streamErr != nil {
		return nil
	}
	if v.streamErr = checkStream(v.stream); v.streamErr == nil {
		v.know(v.stream)
	}
	return nil
}

// Names of durabilities, as stream.json has them, by their number in journals.
var durabilities = []string{"commit", "sealed", "os"}

// checkStream tells whether a stream can be what a stream.json says.
func checkStream(m meta.Stream) error {
	_, err := segment.ParseLayout(m.Layout)
	switch {
	case err != nil:
		return err
	case !slices.Contains(durabilities, m.Durability):
		return fmt.Errorf("durability %q", m.Durability)
	case m.Capacity > capacityMax:
		return fmt.Errorf("capacity %d is above %d", m.Capacity, capacityMax)
	}
	return m.Retention.Validate()
}

// capacityMax is the largest number of records a segment may have.
const capacityMax = 1 << 24

func (v *sight) know(m meta.Stream) {
	v.stream, v.schema, v.known = m, m.Schema, true
	v.id, _ = meta.ParseID(m.ID)
	v.tag = v.schema.Tag(v.id)
}

// commit tells whether numbers go on at the place where the journals stop.
func (v *sight) commit() bool { return v.stream.Durability == durabilities[modeCommit] }

// readJournals reads the ring: the newest journal first, and no bytes of one
// that was started after the look began. So each holds at least what it held
// when the ones after it were read.
func (v *sight) readJournals(ctx context.Context, fsys disk.FS) error {
	newest := uint64(0)
	for n := range journal.Ring {
		name := journal.Name(n)
		head := readPart(fsys, filepath.Join(v.dir, name), journal.FramesAt)
		h, _, _ := journal.DecodeHeaders(head)
		newest = max(newest, h.Generation)
		v.journals = append(v.journals, &journalFile{name: name, n: n, header: h})
	}
	slices.SortStableFunc(v.journals, func(a, b *journalFile) int {
		return cmp.Compare(b.header.Generation, a.header.Generation)
	})
	for _, j := range v.journals {
		var err error
		if j.data, err = readJournal(ctx, fsys, filepath.Join(v.dir, j.name)); err != nil && !notExist(err) {
			if ctx.Err() != nil || !errors.Is(err, errRead) {
				return err
			}
			j.err = err
		}
		if h, _, _ := journal.DecodeHeaders(j.data); h.Generation > newest {
			// All in it came after what the cursors page said.
			clear(j.data[:journal.FramesAt])
		}
	}
	v.journals = slices.DeleteFunc(v.journals, func(j *journalFile) bool { return j.data == nil && j.err == nil })
	slices.SortFunc(v.journals, func(a, b *journalFile) int { return cmp.Compare(a.n, b.n) })
	return nil
}

// errRead marks an error of reading a file that could be opened.
var errRead = errors.New("read failed")

// readJournal reads a journal from its end to its beginning, so that what is
// read of it is never newer than what stands before it, and its header last: a
// header that isn't what it was means that the frames may be of another life.
func readJournal(ctx context.Context, fsys disk.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > journalMax {
		return nil, fmt.Errorf("%w: %d bytes", errRead, size)
	}
	src := &source{ctx: ctx, r: f, size: size}
	b := make([]byte, size)
	const piece = 64 << 10
	for range journalTries {
		var before, after [journal.FramesAt]byte
		head := min(size, journal.FramesAt)
		if err := src.read(before[:head], 0); err != nil {
			return nil, fmt.Errorf("%w: %w", errRead, err)
		}
		for at := (size - 1) / piece * piece; at >= 0; at -= piece {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := src.read(b[at:min(at+piece, size)], at); err != nil {
				return nil, fmt.Errorf("%w: %w", errRead, err)
			}
		}
		if err := src.read(after[:head], 0); err != nil {
			return nil, fmt.Errorf("%w: %w", errRead, err)
		}
		if before == after {
			return b, nil
		}
	}
	// It is started again and again: what it had is sealed long ago.
	clear(b[:min(size, journal.FramesAt)])
	return b, nil
}

// journalTries is how often a journal is read that is started anew meanwhile.
const journalTries = 16

// remains tells whether a directory without stream.json has anything of a
// stream. A journal without a header is what an interrupted creation leaves.
func (v *sight) remains() bool {
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); ok && e.Regular || e.Name == meta.DropsFile {
			return true
		}
	}
	return slices.ContainsFunc(v.journals, func(j *journalFile) bool { return j.header.Generation != 0 })
}

// scanJournals decodes the journals that are of this stream.
func (v *sight) scanJournals() {
	for _, j := range v.journals {
		if j.err != nil || len(j.data) < journal.FramesAt {
			continue
		}
		h, ok, err := journal.DecodeHeaders(j.data)
		j.header, j.err = h, err
		if !ok || err != nil || !v.known || h.ID != v.id || h.Tag != v.tag || int(h.Width) != v.schema.Width() {
			continue
		}
		j.scan, j.err = journal.Read(j.n, j.data, h, v.stream.Capacity)
		j.ok = j.err == nil
	}
}

// alien tells whether there are files with records, and none is of the stream
// that stream.json names.
func (v *sight) alien(fsys disk.FS) bool {
	others := false
	for _, j := range v.journals {
		if h, ok, err := journal.DecodeHeaders(j.data); ok && err == nil {
			if h.ID == v.id && h.Tag == v.tag {
				return false
			}
			others = true
		}
	}
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); !ok || !e.Regular {
			continue
		}
		h, err := segment.DecodeHeader(readPart(fsys, filepath.Join(v.dir, e.Name), headerSize))
		if err == nil && h.Tag == v.tag {
			return false
		}
		others = others || err == nil && !h.Legacy
	}
	return others
}

// infer finds out what the stream is from its column files: what most of them say.
func (v *sight) infer(fsys disk.FS) error {
	votes := map[[16]byte]int{}
	found := map[[16]byte]segment.Meta{}
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); !ok || !e.Regular {
			continue
		}
		path := filepath.Join(v.dir, e.Name)
		if h, err := segment.DecodeHeader(readPart(fsys, path, headerSize)); err == nil && !h.Legacy {
			v.tags = append(v.tags, h.Tag)
		}
		_, m, err := segment.OpenSelf(fsys, path)
		switch {
		case err == nil:
			votes[m.ID]++
			found[m.ID] = m
		case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrRows), errors.Is(err, segment.ErrVersion), notExist(err):
		default:
			return err
		}
	}
	best, most := segment.Meta{}, 0
	for id, n := range votes {
		if n > most || n == most && bytes.Compare(id[:], best.ID[:]) < 0 {
			best, most = found[id], n
		}
	}
	if most == 0 {
		v.guess()
		return nil
	}
	m := meta.Stream{ID: meta.FormatID(best.ID), Schema: best.Schema, Capacity: int(best.Capacity),
		Durability: durabilities[modeCommit], Layout: segment.Columns.String()}
	for _, j := range v.journals {
		if h, ok, err := journal.DecodeHeaders(j.data); ok && err == nil && h.ID == best.ID && int(h.Mode) < len(durabilities) {
			m.Durability = durabilities[h.Mode]
		}
	}
	v.know(m)
	return nil
}

// guess takes id and schema from a damaged stream.json if the tag of a file of
// the stream proves them. What no file proves is as in a new stream.
func (v *sight) guess() {
	var m meta.Stream
	if json.Unmarshal(v.streamBytes, &m) != nil || m.Schema == nil {
		return
	}
	id, err := meta.ParseID(m.ID)
	if err != nil {
		return
	}
	tag := m.Schema.Tag(id)
	proven := slices.ContainsFunc(v.tags, func(t uint32) bool { return t == tag })
	out := meta.Stream{ID: m.ID, Schema: m.Schema, Capacity: m.Capacity, Durability: m.Durability, Layout: m.Layout}
	for _, j := range v.journals {
		h, ok, err := journal.DecodeHeaders(j.data)
		if !ok || err != nil || h.ID != id || h.Tag != tag {
			continue
		}
		proven = true
		out.Durability = durabilities[min(int(h.Mode), len(durabilities)-1)]
		if c, ok := journal.Capacity(int64(len(j.data)), int(h.Width)); ok {
			out.Capacity = c
		}
	}
	if _, err := segment.ParseLayout(out.Layout); err != nil {
		out.Layout = segment.Rows.String() // or a column file would have told all
	}
	if !slices.Contains(durabilities, out.Durability) {
		out.Durability = durabilities[modeCommit]
	}
	if proven && out.Capacity >= 1 && out.Capacity <= capacityMax {
		v.know(out)
	}
}

// readSegments walks through every sealed file.
func (v *sight) readSegments(ctx context.Context, fsys disk.FS, before *sight, progress func(done, total int64)) error {
	var total, done int64
	for _, e := range v.entries {
		if first, ok := segment.ParseName(e.Name); ok && e.Regular {
			v.segments = append(v.segments, &segmentFile{name: e.Name, first: first, size: e.Size})
			total += e.Size
		}
	}
	kept := v.segments[:0]
	for _, f := range v.segments {
		switch err := v.readSegment(ctx, fsys, f, before); {
		case err == nil:
			kept = append(kept, f)
		case notExist(err): // retired meanwhile
		default:
			return err
		}
		if done += f.size; progress != nil {
			progress(done, total)
		}
	}
	v.segments = kept
	return nil
}

func (v *sight) readSegment(ctx context.Context, fsys disk.FS, f *segmentFile, before *sight) error {
	file, err := fsys.Open(filepath.Join(v.dir, f.name))
	if err != nil {
		return err
	}
	defer file.Close()
	if f.size, err = file.Size(); err != nil {
		return err
	}
	src := &source{ctx: ctx, r: file, size: f.size}
	f.raw = make([]byte, min(f.size, headerSize))
	if f.err = src.read(f.raw, 0); f.err == nil {
		if before != nil {
			if i := slices.IndexFunc(before.segments, func(o *segmentFile) bool {
				return o.name == f.name && o.size == f.size && bytes.Equal(o.raw, f.raw) && !o.bad()
			}); i >= 0 {
				f.walk = before.segments[i].walk
				return nil
			}
		}
		f.walk = &segmentWalk{src: src, name: f.name, schema: v.schema}
		f.err = f.walk.run()
		f.walk.src = nil
	}
	return ctx.Err()
}

func (v *sight) readDrops(fsys disk.FS) error {
	b, err := readSmall(fsys, filepath.Join(v.dir, meta.DropsFile))
	switch {
	case notExist(err):
		return nil
	case err != nil:
		return err
	}
	v.drops, v.dropsErr = meta.DecodeDrops(meta.DropsFile, b)
	return nil
}

// ownTmp tells whether a name is that of an unfinished file of a stream.
func ownTmp(name string) bool {
	base, ok := strings.CutSuffix(name, ".tmp")
	return ok && ownFile(base)
}

// ownFile tells whether a name is that of a file of a stream.
func ownFile(name string) bool {
	_, isSegment := segment.ParseName(name)
	_, isJournal := journal.ParseName(name)
	return isSegment || isJournal || name == meta.StreamFile || name == meta.DropsFile || name == meta.CursorFile
}
