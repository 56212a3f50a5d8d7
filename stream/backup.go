package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// A BackupReport says what a backup brought.
type BackupReport struct {
	Copied, Kept int   // segments written, and segments that were there already
	Bytes        int64 // written
	FirstSeq     Seq   // the copy holds the records from here
	EndSeq       Seq   // to below here
}

// Backup makes or brings up to date a copy of the stream in dir in the directory
// dest, beside a live writer, without a lock on it. The copy is a stream: whole
// batches, to one end, sealed. A later run brings only segments that are new,
// and the last one, which has grown. What retention has taken from the stream
// since stays in the copy.
//
// When it returns nil the copy is on disk, and every segment that was written
// was read back and checked. A copy that was opened for writing and has gone
// its own way is refused with ErrExists, as is any other stream in dest, and a
// dest that is dir or lies in it with ErrOption; dest is locked meanwhile. The sidecars dictionary.json
// and imports.json, if they are regular files, are copied with it, other files
// are not; a damaged one is ErrCorrupt when all else has been copied.
func Backup(ctx context.Context, dir, dest string) (BackupReport, error) {
	if rel, err := filepath.Rel(resolved(dir), resolved(dest)); err == nil && filepath.IsLocal(rel) {
		return BackupReport{}, fmt.Errorf("ledger: backup of %s: %w: %s is the stream itself or lies in it", dir, ErrOption, dest)
	}
	return BackupOn(ctx, disk.OS(), dir, dest)
}

// resolved is the whole path of a directory behind all links; of one that isn't
// there, as far as it is there.
func resolved(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	if parent := filepath.Dir(dir); parent != dir {
		return filepath.Join(resolved(parent), filepath.Base(dir))
	}
	return dir
}

// BackupOn is Backup on another disk, for the tests of this module.
func BackupOn(ctx context.Context, fsys disk.FS, dir, dest string) (BackupReport, error) {
	b := &backup{ctx: ctx, fsys: fsys, dir: dir, dest: dest}
	err := b.run(dir)
	if err != nil {
		err = fmt.Errorf("ledger: backup of %s: %w", dir, err)
	}
	return b.report, err
}

type backup struct {
	ctx    context.Context
	fsys   disk.FS
	dir    string
	dest   string
	info   Info
	tag    uint32
	have   map[uint64]*segment.File // in dest, by first number
	writer segment.Writer

	damaged error // of a sidecar
	report  BackupReport
}

func (b *backup) run(dir string) error {
	r, err := OpenReaderOn(b.fsys, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	b.info = r.Info()
	b.tag = b.info.Schema.Tag(b.info.ID)
	if err := makeDirs(b.fsys, filepath.Clean(b.dest)); err != nil {
		return err
	}
	lock, err := b.fsys.Lock(b.dest)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := b.list(); err != nil {
		return err
	}
	imports, err := readSidecar(b.fsys, dir, meta.ImportsFile)
	if err != nil {
		return err
	}
	n, err := r.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	texts, err := readSidecar(b.fsys, dir, meta.DictionaryFile)
	if err != nil {
		return err
	}
	if err := b.diverged(uint64(n.End())); err != nil {
		return err
	}
	if err := b.sidecar(meta.DictionaryFile, texts); err != nil {
		return err
	}
	held, err := b.segments(n)
	if err != nil {
		return err
	}
	if err := b.finish(n, held); err != nil {
		return err
	}
	if err := b.sidecar(meta.ImportsFile, imports); err != nil {
		return err
	}
	return b.damaged
}

// readSidecar returns a sidecar's content, nil if there is none. What imports
// have done must not be ahead of the copy's records, so it is read before the
// snapshot and written last; the texts must be those of all records, so they are
// read behind it and written first.
func readSidecar(fsys disk.FS, dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	e, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !e.Regular {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readWhole(fsys, path, meta.SidecarMax)
}

// sidecar replaces a sidecar of the copy, if the stream has it and it is new. A
// damaged one doesn't replace a good one, nor does it keep the records from being
// copied: it is an error at the end.
func (b *backup) sidecar(name string, content []byte) error {
	if content != nil {
		err := meta.CheckSidecar(filepath.Join(b.dir, name), content, meta.FormatID(b.info.ID))
		if errors.Is(err, meta.ErrForeign) {
			err = &CorruptError{Path: filepath.Join(b.dir, name), Offset: -1, Field: "stream", Err: err}
		}
		if errors.Is(err, ErrCorrupt) {
			b.damaged = errors.Join(b.damaged, fmt.Errorf("%s is not in the copy, all else is: %w", name, err))
			return nil
		}
	}
	old, err := readSidecar(b.fsys, b.dest, name)
	if content == nil || err != nil || bytes.Equal(old, content) {
		return err
	}
	late, err := disk.Replace(b.fsys, filepath.Join(b.dest, name), disk.Content(content))
	return errors.Join(late, err)
}

// list reads what the destination holds.
func (b *backup) list() error {
	b.have = make(map[uint64]*segment.File)
	info, err := readInfo(b.fsys, b.dest)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return err
	case info.ID != b.info.ID:
		return fmt.Errorf("%w: %s is another stream", ErrExists, b.dest)
	}
	entries, err := b.fsys.ReadDir(b.dest)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, isJournal := journal.ParseName(e.Name); isJournal {
			return fmt.Errorf("%w: %s was opened for writing: it is no copy any more", ErrExists, b.dest)
		}
		first, ok := segment.ParseName(e.Name)
		if !ok || !e.Regular {
			continue
		}
		f, err := segment.Open(b.fsys, filepath.Join(b.dest, e.Name), b.info.Schema, b.tag)
		if err == nil {
			b.have[first] = f
		} else if !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return nil
}

// diverged refuses a copy that holds numbers that the stream doesn't have yet.
func (b *backup) diverged(end uint64) error {
	for _, f := range b.have {
		if f.Header().End() > end {
			return fmt.Errorf("%w: %s has records up to %d, the stream only up to %d", ErrExists, b.dest, f.Header().End(), end)
		}
	}
	return nil
}

// segments brings every segment that isn't there. It returns what the copy holds.
func (b *backup) segments(n *Snapshot) (journal.Ranges, error) {
	var held []journal.Range
	for _, f := range b.have {
		held = append(held, journal.Range{From: f.Header().First, To: f.Header().End()})
	}
	b.report.EndSeq = n.End()
	for p, err := range n.Parts(n.First(), n.End()) {
		if errors.Is(err, ErrDropped) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if p.Len() == 0 {
			continue
		}
		if b.there(p) {
			b.report.Kept++
			continue
		}
		err := b.bring(p)
		if errors.Is(err, ErrDropped) { // retention overtook us
			continue
		}
		if err != nil {
			return nil, err
		}
		held = append(held, journal.Range{From: uint64(p.First), To: uint64(p.End)})
	}
	return journal.Union(held), nil
}

// there tells whether the copy has the part's segment as it is.
func (b *backup) there(p Part) bool {
	f := b.have[uint64(p.First)]
	if f == nil || f.Header().End() != uint64(p.End) {
		return false
	}
	h, sealed := p.Header()
	return !sealed || f.Header().CRC == h.CRC
}

// image is the content of a part's file: the file's own where it is sealed.
func (b *backup) image(p Part) ([]byte, error) {
	if p.file != nil {
		image, err := readWhole(b.fsys, p.file.Path(), p.file.Size())
		if errors.Is(err, fs.ErrNotExist) {
			_, err = p.n.acquire(p.file) // says why it is gone
			if err == nil {
				p.file.Release()
				err = &CorruptError{Path: p.file.Path(), Offset: -1, Err: fs.ErrNotExist}
			}
		}
		return image, err
	}
	g, err := p.Acquire()
	if err != nil {
		return nil, err
	}
	rows, err := g.Rows(nil, 0, g.Len())
	p.Release()
	if err != nil {
		return nil, err
	}
	m := segment.Meta{ID: b.info.ID, Capacity: uint32(b.info.Capacity), Schema: b.info.Schema}
	image, _, err := b.writer.Encode(m, b.info.Layout, rows, time.Now().UnixMilli(), segment.FlagDurable)
	return image, err
}

// bring writes one segment, makes its name durable and reads it back.
func (b *backup) bring(p Part) error {
	image, err := b.image(p)
	if err != nil {
		return err
	}
	path := filepath.Join(b.dest, segment.Name(uint64(p.First)))
	if late, err := disk.Replace(b.fsys, path, disk.Content(image)); late != nil || err != nil {
		return errors.Join(late, err)
	}
	f, err := segment.Open(b.fsys, path, b.info.Schema, b.tag)
	if err != nil {
		return err
	}
	if err := checkWhole(f); err != nil {
		return err
	}
	b.report.Copied++
	b.report.Bytes += int64(len(image))
	return nil
}

// finish names what the copy doesn't have, and makes it a stream.
func (b *backup) finish(n *Snapshot, held journal.Ranges) error {
	b.report.FirstSeq = n.End()
	if len(held) > 0 {
		b.report.FirstSeq = Seq(held[0].From)
	}
	drops := meta.Drops{ID: meta.FormatID(b.info.ID)}
	for _, gap := range held.Gaps(0, uint64(n.End())) {
		drops = drops.Add(meta.Drop{From: gap.From, To: gap.To, Reason: b.reason(n, gap), At: time.Now().UTC()})
	}
	if late, err := writeDrops(b.fsys, b.dest, drops); late != nil || err != nil {
		return errors.Join(late, err)
	}
	info := b.info
	info.Dir = b.dest
	old, err := readWhole(b.fsys, filepath.Join(b.dest, meta.StreamFile), smallFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, err := info.meta().Encode()
	if err != nil {
		return err
	}
	if bytes.Equal(old, now) {
		return nil
	}
	late, err := writeMeta(b.fsys, info)
	return errors.Join(late, err)
}

// reason says why the copy doesn't have a range: the stream's own words, or
// that it was gone when the copy was made.
func (b *backup) reason(n *Snapshot, gap journal.Range) string {
	for _, d := range n.v.drops {
		if d.From < gap.To && gap.From < d.To {
			return d.Reason
		}
	}
	return meta.ReasonRetention
}
