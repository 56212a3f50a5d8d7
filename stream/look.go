package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
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

// look reads a stream's directory and plans its recovery. If the caller is not
// alone there, having its lock, names are read again behind the journals, so that
// beside a live writer what left a journal is seen in a file. known are files that
// an earlier look opened, by name.
func look(fsys disk.FS, dir string, alone bool, known map[string]*segment.File) (*sight, error) {
	info, err := readInfo(fsys, dir)
	if err != nil {
		return nil, err
	}
	v := &sight{info: info, tag: info.Schema.Tag(info.ID)}
	if v.cursor, err = readCursors(fsys, dir, info.ID); err != nil {
		return nil, err
	}
	if err := v.list(fsys, known); err != nil {
		return nil, err
	}
	bytes, err := v.readJournals(fsys)
	if err != nil {
		return nil, err
	}
	if !alone {
		if err := v.list(fsys, v.opened(known)); err != nil {
			return nil, err
		}
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

// opened adds the files that were seen to those that were known.
func (v *sight) opened(known map[string]*segment.File) map[string]*segment.File {
	all := make(map[string]*segment.File, len(v.files))
	maps.Copy(all, known)
	for _, f := range v.files {
		all[filepath.Base(f.Path())] = f
	}
	return all
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

// list reads drops.json and opens the segments by their headers.
func (v *sight) list(fsys disk.FS, known map[string]*segment.File) (err error) {
	if v.drops, err = readDrops(fsys, v.info.Dir, v.info.ID); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(v.info.Dir)
	if err != nil {
		return err
	}
	v.files, v.bad, v.retired, v.tmps = nil, nil, nil, nil
	var names []disk.Entry // of segments
	for _, e := range entries {
		if !e.Regular {
			continue
		}
		if ownTmp(e.Name) {
			v.tmps = append(v.tmps, e.Name)
		} else if _, ok := segment.ParseName(e.Name); ok {
			names = append(names, e)
		}
	}
	files, errs := v.openAll(fsys, names, known)
	gone := dropRanges(v.drops)
	for i, e := range names {
		f, err := files[i], errs[i]
		first, _ := segment.ParseName(e.Name)
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

// openersMax bounds how many headers are read at once, and filesEach how few are
// worth a goroutine.
const openersMax, filesEach = 8, 32

// openAll opens segments by their headers, or takes those that are known.
func (v *sight) openAll(fsys disk.FS, names []disk.Entry, known map[string]*segment.File) ([]*segment.File, []error) {
	files, errs := make([]*segment.File, len(names)), make([]error, len(names))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1) - 1); i < len(names); i = int(next.Add(1) - 1) {
			e := names[i]
			if files[i] = known[e.Name]; files[i] == nil || files[i].Size() != e.Size {
				files[i], errs[i] = segment.Open(fsys, filepath.Join(v.info.Dir, e.Name), v.info.Schema, v.tag)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(openersMax, len(names)/filesEach) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return files, errs
}

// ownTmp tells whether name is a leftover of a replacement of ours.
func ownTmp(name string) bool {
	base, ok := cutSuffix(name, ".tmp")
	if !ok {
		return false
	}
	_, isSegment := segment.ParseName(base)
	_, isJournal := journal.ParseName(base)
	return isSegment || isJournal || base == meta.StreamFile || base == meta.DropsFile || base == meta.CursorFile || meta.Sidecar(base)
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
	if len(v.plan.Missing) > 0 {
		m := v.plan.Missing[0]
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
