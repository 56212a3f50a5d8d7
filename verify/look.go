package verify

import (
	"bytes"
	"context"
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
	sidecars   map[string][]byte // content, of those that are there
	consumers  []*consumerFile
}

// A segmentFile is one sealed file, walked through.
type segmentFile struct {
	name  string
	first uint64 // as the name says
	size  int64
	raw   []byte // its header
	walk  *segmentWalk
	count uint64 // of a file whose header is damaged: the records that it proves
	err   error  // a failed read
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
		return nil, fmt.Errorf("%w: no stream in %s", ErrNotFound, dir)
	}
	if c, ok, err := meta.DecodeCursors(v.cursorPage); ok && err == nil && c.ID == v.id {
		v.cursor = c
	}
	if err := v.readSegments(ctx, fsys, before, progress); err != nil {
		return nil, err
	}
	if err := v.readSidecars(fsys); err != nil {
		return nil, err
	}
	if err := v.readConsumers(fsys); err != nil {
		return nil, err
	}
	return v, v.readDrops(fsys)
}

// readSidecars reads the files that stand beside the engine's.
func (v *sight) readSidecars(fsys disk.FS) error {
	v.sidecars = map[string][]byte{}
	for _, e := range v.entries {
		if !meta.Sidecar(e.Name) || !e.Regular {
			continue
		}
		b, err := readUpTo(fsys, filepath.Join(v.dir, e.Name), meta.SidecarMax)
		switch {
		case notExist(err): // replaced or removed meanwhile
		case err != nil:
			return err
		default:
			v.sidecars[e.Name] = b
		}
	}
	return nil
}

// readSmall reads a small file whole.
func readSmall(fsys disk.FS, path string) ([]byte, error) { return readUpTo(fsys, path, smallMax) }

func readUpTo(fsys disk.FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return (&source{ctx: context.Background(), r: f, size: size}).all(limit)
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
			if o := before.file(f.name); o != nil && o.size == f.size && bytes.Equal(o.raw, f.raw) && !o.bad() {
				f.walk = o.walk
				return nil
			}
		}
		f.walk = &segmentWalk{src: src, name: f.name, schema: v.schema, quiet: true}
		f.err = f.walk.run()
		f.walk.src = nil
		if f.err == nil && !f.walk.headOK && v.known {
			if b, err := src.all(1 << 40); err == nil {
				x, _ := mend(b, v.schema, v.stream, f.first)
				f.count = x.header.Count
			}
		}
	}
	return ctx.Err()
}

// file returns the sealed file of that name, or nil.
func (v *sight) file(name string) *segmentFile {
	i, ok := slices.BinarySearchFunc(v.segments, name, func(f *segmentFile, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil
	}
	return v.segments[i]
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
	return isSegment || isJournal || name == meta.StreamFile || name == meta.DropsFile || name == meta.CursorFile || name == meta.Reserve || meta.Sidecar(name)
}
