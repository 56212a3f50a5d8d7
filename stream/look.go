package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A sight is what a stream's directory holds, read without changing anything.
type sight struct {
	info    Info
	tag     uint32
	drops   meta.Drops
	files   []*segment.File // that check out, by first number
	bad     []badFile       // that don't
	retired []string        // names of files whose whole range drops.json names
	tmps    []string        // leftovers of interrupted replacements
	scans   []*journal.Scan
	sizes   [journal.Ring]int64 // of the journals; -1: not there
	cursor  meta.Cursors
	plan    *journal.Plan
}

// A badFile is a name of a segment whose content is not one.
type badFile struct {
	name  string
	first uint64
	size  int64
	err   error
}

// readWhole reads a small file. It is fs.ErrNotExist if there is none.
func readWhole(fsys disk.FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, &CorruptError{Path: path, Offset: -1, Field: "size", Detail: fmt.Sprintf("%d bytes", n)}
	}
	b := make([]byte, n)
	k, err := f.ReadAt(b, 0)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:k], err
}

// readHead reads the beginning of a journal, and its size.
func readHead(fsys disk.FS, path string) (b []byte, size int64, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if size, err = f.Size(); err != nil {
		return nil, 0, err
	}
	b = make([]byte, min(size, journal.FramesAt))
	n, err := f.ReadAt(b, 0)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:n], size, err
}

// smallFile bounds stream.json and drops.json.
const smallFile = 64 << 20

// readInfo reads stream.json.
func readInfo(fsys disk.FS, dir string) (Info, error) {
	path := filepath.Join(dir, meta.StreamFile)
	b, err := readWhole(fsys, path, smallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, fmt.Errorf("%w: no stream in %s", ErrNotFound, dir)
	}
	if err != nil {
		return Info{}, err
	}
	m, err := meta.DecodeStream(path, b)
	if err != nil {
		return Info{}, err
	}
	return infoOf(dir, path, m)
}

// readDrops reads drops.json; none is an empty one.
func readDrops(fsys disk.FS, dir string, id [16]byte) (meta.Drops, error) {
	path := filepath.Join(dir, meta.DropsFile)
	b, err := readWhole(fsys, path, smallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return meta.Drops{ID: meta.FormatID(id)}, nil
	}
	if err != nil {
		return meta.Drops{}, err
	}
	d, err := meta.DecodeDrops(path, b)
	if err == nil && d.ID != meta.FormatID(id) {
		err = &CorruptError{Path: path, Offset: -1, Field: "id", Detail: "of another stream"}
	}
	return d, err
}

// look reads a stream's directory and plans its recovery. Journals are read
// before the names, so that beside a live writer what left a journal is seen in
// a file. known are files that an earlier look opened, by name.
func look(fsys disk.FS, dir string, known map[string]*segment.File) (*sight, error) {
	info, err := readInfo(fsys, dir)
	if err != nil {
		return nil, err
	}
	v := &sight{info: info, tag: info.Schema.Tag(info.ID)}
	if v.cursor, err = readCursors(fsys, dir, info.ID); err != nil {
		return nil, err
	}
	bytes, err := v.readJournals(fsys)
	if err != nil {
		return nil, err
	}
	if v.drops, err = readDrops(fsys, dir, info.ID); err != nil {
		return nil, err
	}
	if err := v.list(fsys, known); err != nil {
		return nil, err
	}
	if err := v.scan(bytes); err != nil {
		return nil, err
	}
	if err := v.proveLoose(); err != nil {
		return nil, err
	}
	v.recover()
	return v, nil
}

func readCursors(fsys disk.FS, dir string, id [16]byte) (meta.Cursors, error) {
	b, err := readWhole(fsys, filepath.Join(dir, meta.CursorFile), smallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return meta.Cursors{}, nil
	}
	if err != nil {
		return meta.Cursors{}, err
	}
	c, ok, err := meta.DecodeCursors(b)
	if err != nil || !ok || c.ID != id {
		return meta.Cursors{}, err
	}
	return c, nil
}

// readJournals reads the files of the ring. Their size is what the file system
// says, so nothing larger than the file is allocated.
func (v *sight) readJournals(fsys disk.FS) (bytes [journal.Ring][]byte, err error) {
	for n := range journal.Ring {
		v.sizes[n] = -1
		path := filepath.Join(v.info.Dir, journal.Name(n))
		b, size, err := readHead(fsys, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return bytes, err
		}
		// One without a header is none, whatever stands behind it.
		if _, ok, herr := journal.DecodeHeaders(b); ok && herr == nil {
			if b, err = readWhole(fsys, path, journal.Size(CapacityMax, schema.WidthMax)); err != nil {
				return bytes, err
			}
			size = int64(len(b))
		}
		bytes[n] = b
		v.sizes[n] = size
	}
	return bytes, nil
}

// list opens the segments by their headers.
func (v *sight) list(fsys disk.FS, known map[string]*segment.File) error {
	entries, err := fsys.ReadDir(v.info.Dir)
	if err != nil {
		return err
	}
	gone := dropRanges(v.drops)
	for _, e := range entries {
		if !e.Regular {
			continue
		}
		if ownTmp(e.Name) {
			v.tmps = append(v.tmps, e.Name)
			continue
		}
		first, ok := segment.ParseName(e.Name)
		if !ok {
			continue
		}
		f, err := known[e.Name], error(nil)
		if f == nil || f.Size() != e.Size {
			f, err = segment.Open(fsys, filepath.Join(v.info.Dir, e.Name), v.info.Schema, v.tag)
		}
		switch {
		case err == nil && gone.Covers(f.Header().First, f.Header().End()):
			v.retired = append(v.retired, e.Name)
		case err == nil:
			v.files = append(v.files, f)
		case errors.Is(err, fs.ErrNotExist): // retired beside us
		case errors.Is(err, ErrCorrupt) && gone.Has(first):
			v.retired = append(v.retired, e.Name)
		case errors.Is(err, ErrCorrupt):
			v.bad = append(v.bad, badFile{e.Name, first, e.Size, err})
		default:
			return err
		}
	}
	for i := 1; i < len(v.files); i++ {
		if a, b := v.files[i-1], v.files[i]; a.Header().End() > b.Header().First {
			return &CorruptError{Path: b.Path(), Offset: 8, Field: "first_seq", From: b.Header().First, To: a.Header().End(),
				Detail: "overlaps " + filepath.Base(a.Path())}
		}
	}
	return nil
}

// ownTmp tells whether name is a leftover of a replacement of ours.
func ownTmp(name string) bool {
	base, ok := cutSuffix(name, ".tmp")
	if !ok {
		return false
	}
	_, isSegment := segment.ParseName(base)
	_, isJournal := journal.ParseName(base)
	return isSegment || isJournal || base == meta.StreamFile || base == meta.DropsFile || base == meta.CursorFile
}

func cutSuffix(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n > 0 && s[n:] == suffix {
		return s[:n], true
	}
	return s, false
}

func dropRanges(d meta.Drops) journal.Ranges {
	rs := make([]journal.Range, len(d.Ranges))
	for i, r := range d.Ranges {
		rs[i] = journal.Range{From: r.From, To: r.To}
	}
	return journal.Union(rs)
}

// scan reads the journals' frames. One whose whole room lies in files that are
// known to be on disk can neither hold anything nor witness anything more; but
// the newest has the producers' window.
func (v *sight) scan(bytes [journal.Ring][]byte) error {
	var known []journal.Range
	for _, f := range v.files {
		if f.Header().Flags&segment.FlagDurable != 0 {
			known = append(known, journal.Range{From: f.Header().First, To: f.Header().End()})
		}
	}
	sealedRanges := journal.Union(known)
	newest := newestJournal(bytes)
	var split uint64 // the last file's end: whether a batch goes on behind it, its journal tells
	if v.info.Durability == Commit {
		split = v.sealedEnd()
	}
	for n, b := range bytes {
		h, ok, err := journal.DecodeHeaders(b)
		if err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
		if !ok || h.ID != v.info.ID || h.Tag != v.tag || int(h.Width) != v.info.Schema.Width() {
			continue
		}
		c, ok := journal.Capacity(int64(len(b)), int(h.Width))
		if ok && n != newest && h.First+uint64(c) != split && sealedRanges.Covers(h.First, h.First+uint64(c)) {
			b = b[:journal.FramesAt:journal.FramesAt]
		}
		s, err := journal.Read(n, b, h, v.info.Capacity)
		if err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
		v.scans = append(v.scans, s)
	}
	return nil
}

// sealedEnd is the number behind the last sealed record, or 0.
func (v *sight) sealedEnd() uint64 {
	if len(v.files) == 0 {
		return 0
	}
	return v.files[len(v.files)-1].Header().End()
}

// end is where a reader's view ends: on a Commit stream, with what is known to
// be durable.
func (v *sight) end() uint64 {
	sealed := v.sealedEnd()
	if v.info.Durability != Commit {
		return max(v.plan.Stop, sealed)
	}
	end := max(sealed, min(v.plan.Stop, v.plan.Witness))
	if end == sealed {
		// A file may end inside a batch, which was durable as a whole, or the file
		// would not be there.
		end = min(v.batchEnd(end), max(end, v.plan.Stop))
	}
	return end
}

// batchEnd is where the batch ends that a sealed end lies in, as far as it is
// there; end itself if it lies in none.
func (v *sight) batchEnd(end uint64) uint64 {
	for _, l := range v.plan.Live {
		fs := l.Scan.Frames
		if len(fs) == 0 || fs[0].First != end {
			continue
		}
		if !v.goesOn(end, l.Scan.Header.Generation) {
			break
		}
		end = fs[0].End()
	}
	return end
}

// goesOn tells whether the batch of the record below end goes on in the journal
// of generation gen, as the one before says.
func (v *sight) goesOn(end, gen uint64) (more bool) {
	var newest uint64
	for _, s := range v.scans {
		if k, g := len(s.Frames), s.Header.Generation; k > 0 && newest <= g && g < gen {
			newest, more = g, s.Frames[k-1].End() == end && s.Frames[k-1].More
		}
	}
	return more
}

// newestJournal is the number of the one with the highest generation, or -1.
func newestJournal(bytes [journal.Ring][]byte) int {
	newest, gen := -1, uint64(0)
	for n, b := range bytes {
		if h, ok, err := journal.DecodeHeaders(b); err == nil && ok && h.Generation > gen {
			newest, gen = n, h.Generation
		}
	}
	return newest
}

// proven is the number below which all was on disk, in files or in journals.
func (v *sight) proven() uint64 {
	proven := v.cursor.Durable
	for _, f := range v.files {
		if f.Header().Flags&segment.FlagDurable != 0 {
			proven = max(proven, f.Header().End())
		}
	}
	for _, s := range v.scans {
		proven = max(proven, s.Durable)
	}
	return proven
}

// loose lists the files whose content was not synced before they got their name
// and may not be on disk: those that end above what is proven, and those whose
// records a journal may still hold. What is proven of these may be the journal's
// copy alone: the process may have died before it synced the file.
func (v *sight) loose() (files []*segment.File) {
	proven := v.proven()
	for _, f := range v.files {
		h := f.Header()
		if h.Flags&segment.FlagDurable != 0 {
			continue
		}
		held := slices.ContainsFunc(v.scans, func(s *journal.Scan) bool {
			room, _ := journal.Capacity(v.sizes[s.N], int(s.Header.Width))
			return h.First < s.Header.First+uint64(max(room, v.info.Capacity)) && s.Header.First < h.End()
		})
		if held || h.End() > proven {
			files = append(files, f)
		}
	}
	return files
}

// proveLoose reads the files that may not be on disk: after a power loss they may
// be anything. Those that don't check out are bad.
func (v *sight) proveLoose() error {
	loose := make(map[*segment.File]bool)
	for _, f := range v.loose() {
		loose[f] = true
	}
	var err error
	v.files = slices.DeleteFunc(v.files, func(f *segment.File) bool {
		if err != nil || !loose[f] {
			return false
		}
		cerr := checkWhole(f)
		switch {
		case cerr == nil:
			return false
		case errors.Is(cerr, fs.ErrNotExist): // retired beside us
			return true
		case errors.Is(cerr, ErrCorrupt):
			v.bad = append(v.bad, badFile{filepath.Base(f.Path()), f.Header().First, f.Size(), cerr})
			return true
		}
		err = cerr
		return false
	})
	return err
}

// lostRanges are the numbers whose records were lost: no producer is told that
// a batch of them is there.
func (v *sight) lostRanges() journal.Ranges {
	rs := slices.Clone(v.plan.Lost)
	for _, d := range v.drops.Ranges {
		if d.Reason == meta.ReasonLoss || d.Reason == meta.ReasonRepair {
			rs = append(rs, journal.Range{From: d.From, To: d.To})
		}
	}
	return journal.Union(rs)
}

// recover makes the plan from what was seen.
func (v *sight) recover() {
	e := journal.Evidence{Drops: dropRanges(v.drops), Scans: v.scans, Cursor: v.cursor.Durable, Commit: v.info.Durability == Commit}
	for _, f := range v.files {
		h := f.Header()
		e.Sealed = append(e.Sealed, journal.Sealed{First: h.First, End: h.End(), Durable: h.Flags&segment.FlagDurable != 0})
	}
	v.plan = journal.Recover(e)
}

// refusal is the error of a stream that must not be written: something that was
// durable is not there, or a file's damage is not what a crash leaves.
func (v *sight) refusal() error {
	for _, m := range v.plan.Missing {
		e := &CorruptError{Offset: -1, From: m.From, To: m.To, Detail: "acknowledged records are not there; see verify and repair"}
		for _, b := range v.bad {
			if b.first >= m.From && b.first < m.To {
				e.Path, e.Err = filepath.Join(v.info.Dir, b.name), b.err
			}
		}
		return e
	}
	for _, b := range v.bad {
		// A crash leaves a bad file only where seals aren't synced, or where a
		// journal still holds the records.
		if v.info.Durability == Os {
			continue
		}
		if b.first >= v.plan.Stop || b.size > segment.Size(v.info.Schema, v.info.Layout, v.plan.Stop-b.first) {
			return b.err
		}
	}
	return nil
}
