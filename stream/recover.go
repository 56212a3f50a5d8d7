package stream

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// An OpenReport says what Open found and did.
type OpenReport struct {
	Clean      bool     // the stream had been closed: nothing was to be done
	Replayed   uint64   // records that only a journal held
	Cut        uint64   // records of an unfinished, unacknowledged batch that were cut
	Lost       []Range  // ranges given up: written, never durable, not there (Sealed, Os)
	Resealed   int      // segments sealed by recovery
	SetAside   []string // files moved to quarantine
	Unlinked   []string // retired files that were there again
	Files      int      // sealed segments
	NextSeq    Seq      // the number that the next record gets
	DurableSeq Seq      // below, all is on disk
}

// A Range is the sequence numbers [From, To).
type Range struct{ From, To Seq }

// Report says what Open found and did.
func (s *Stream) Report() OpenReport { return s.report }

// recover carries a plan out: steps 6 and 7 of docs/format.md. Nobody else uses
// the stream yet. A crash at any point leads here again.
func (s *Stream) recover(v *sight) error {
	p := v.plan
	s.gen, s.drops = p.Generation, v.drops
	s.session = max(v.cursor.Generation, p.Generation) + 1
	files := make([]sealed, len(v.files), len(v.files)+1)
	for i, f := range v.files {
		files[i] = newSealed(f, 0)
	}
	s.report.Files = len(files)
	s.show(files)
	if err := s.tidy(v); err != nil {
		return err
	}
	for _, x := range p.Pieces {
		s.report.Replayed += x.To - x.From
	}
	s.report.Cut = p.Cut
	s.producers.recall(v.scans, p.Stop, v.lostRanges())
	if p.Closed && s.resumable(v) {
		return s.resume(v)
	}
	if err := s.rebuild(v); err != nil {
		return err
	}
	return s.openRing(v, true)
}

// tidy removes leftovers of replacements and retired files that came back.
func (s *Stream) tidy(v *sight) error {
	for _, name := range slices.Concat(v.tmps, v.retired) {
		if err := s.fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	s.report.Unlinked = v.retired
	if len(v.retired) > 0 {
		return s.fsys.SyncDir(s.dir)
	}
	return nil
}

// resumable tells whether the live journals are of the stream's present
// capacity and mode, and all that they hold was on disk when they were closed.
func (s *Stream) resumable(v *sight) bool {
	for _, l := range v.plan.Live {
		h := l.Scan.Header
		if v.sizes[l.Scan.N] != journal.Size(s.info.Capacity, s.width) || h.Mode != uint8(s.info.Durability) || l.First != h.First {
			return false
		}
	}
	last := v.plan.Live[len(v.plan.Live)-1].Scan
	return last.StopDurable == v.plan.Next
}

// resume goes on where Close left off (step 6).
func (s *Stream) resume(v *sight) error {
	p := v.plan
	s.report.Clean = true
	if err := s.openRing(v, false); err != nil {
		return err
	}
	for i, l := range p.Live {
		m := s.recovered(s.ring.files[l.Scan.N])
		rows, ok := p.Rows(m.rows[:0], l.First, l.End)
		if !ok || len(rows) > len(m.rows) {
			return &CorruptError{Path: journal.Name(l.Scan.N), Offset: -1, From: l.First, To: l.End, Detail: "records are not where replay found them"}
		}
		m.n = len(rows) / s.width
		m.j.Resume(l.Scan.Header, l.Scan.Stop)
		s.restrict(m)
		s.begin(m, l.First)
		m.synced = m.end()
		if i < len(p.Live)-1 || m.n == m.limit {
			m.ended, s.active = true, nil
		}
	}
	last := p.Live[len(p.Live)-1].Scan
	s.takeUp(p.Next, last.StopDurable)
	return s.resetPage()
}

// takeUp sets the cursors of a stream that begins to be used.
func (s *Stream) takeUp(next, durable uint64) {
	s.appended, s.durable = next, durable
	s.appendedAt.Store(next)
	s.durableNow.Store(durable)
	if s.commit {
		s.published.Store(durable)
	} else {
		s.published.Store(next)
	}
	s.report.NextSeq, s.report.DurableSeq = Seq(next), Seq(durable)
}

// rebuild makes all that was found durable and puts it where a stream that
// begins has it (step 7).
func (s *Stream) rebuild(v *sight) error {
	p := v.plan
	if err := s.setBadAside(v); err != nil {
		return err
	}
	if err := s.rewrite(v); err != nil {
		return err
	}
	// Before a seal: a file above a hole that nothing names would prove the hole
	// to have been durable, and a sealed tail frees the journal with the strays.
	if err := s.nameLoss(v); err != nil {
		return err
	}
	rest, err := s.resealFull(v)
	if err != nil {
		return err
	}
	n, err := s.rejournal(v, rest)
	if err != nil {
		return err
	}
	if err := s.zeroOthers(v, n); err != nil {
		return err
	}
	s.takeUp(p.Next, p.Next)
	if s.report.Replayed+s.report.Cut > 0 || len(s.report.SetAside) > 0 {
		s.tell(Event{Kind: EventRecovered, From: Seq(p.Next - s.report.Replayed), To: Seq(p.Next)})
	}
	return s.resetPage()
}

// setBadAside moves names of segments without their content to quarantine.
func (s *Stream) setBadAside(v *sight) error {
	for _, b := range v.bad {
		to, err := setAside(s.fsys, s.dir, b.name)
		if err != nil {
			return err
		}
		s.report.SetAside = append(s.report.SetAside, to)
	}
	if len(v.bad) == 0 {
		return nil
	}
	return errors.Join(s.fsys.SyncDir(filepath.Join(s.dir, meta.Quarantine)), s.fsys.SyncDir(s.dir))
}

// rewrite puts what was read on disk for certain: after a failed sync the
// system may think it is there (7a). So it does with files of an Os stream.
func (s *Stream) rewrite(v *sight) error {
	for n, size := range v.sizes {
		if size < 0 {
			continue
		}
		f, err := s.fsys.OpenRW(filepath.Join(s.dir, journal.Name(n)))
		if err != nil {
			return err
		}
		for _, l := range v.plan.Live {
			if l.Scan.N == n && err == nil {
				_, err = f.WriteAt(l.Scan.Data[:l.Scan.Stop], 0)
			}
		}
		if err == nil {
			err = f.DataSync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
	}
	return s.syncFiles(v.loose())
}

// resealFull seals the full segments, oldest first, and the last one too if
// numbers are skipped behind it (7b). It returns what is left for a journal.
func (s *Stream) resealFull(v *sight) (rest journal.Live, err error) {
	p := v.plan
	rest = journal.Live{First: p.Next, End: p.Next}
	for i, l := range p.Live {
		if l.First == l.End {
			continue
		}
		last := i == len(p.Live)-1
		if last && l.End-l.First < uint64(s.info.Capacity) && p.Next == p.Stop && l.End == p.Stop {
			return l, nil
		}
		rows, ok := p.Rows(nil, l.First, l.End)
		if !ok {
			return rest, &CorruptError{Path: journal.Name(l.Scan.N), Offset: -1, From: l.First, To: l.End, Detail: "records are not where replay found them"}
		}
		f, late, err := s.writeSegment(rows, nil, segment.FlagDurable, true)
		if err = errors.Join(late, err); err != nil {
			return rest, err
		}
		s.report.Resealed++
		s.insert(f)
	}
	return rest, nil
}

// insert puts a file in its place among those shown.
func (s *Stream) insert(f *segment.File) {
	files := slices.Clone(s.views.files())
	at, _ := slices.BinarySearchFunc(files, f.Header().First, func(x sealed, first uint64) int {
		if x.Header().First < first {
			return -1
		}
		return 1
	})
	s.show(slices.Insert(files, at, newSealed(f, s.views.next())))
}

// nameLoss writes the ranges that are lost to drops.json, and sets the frames
// behind the stop aside.
func (s *Stream) nameLoss(v *sight) error {
	p := v.plan
	lost := slices.Clone(p.Lost)
	if p.Next > p.Stop {
		if err := s.saveStrays(v); err != nil {
			return err
		}
		lost = append(lost, journal.Range{From: p.Stop, To: p.Next})
	}
	if len(lost) == 0 {
		return nil
	}
	for _, l := range lost {
		s.drops = s.drops.Add(meta.Drop{From: l.From, To: l.To, Reason: meta.ReasonLoss, At: s.now().UTC()})
		s.report.Lost = append(s.report.Lost, Range{Seq(l.From), Seq(l.To)})
		s.tell(Event{Kind: EventLost, From: Seq(l.From), To: Seq(l.To)})
	}
	late, err := saveDrops(s.fsys, s.dir, s.drops)
	if err = errors.Join(late, err); err != nil {
		return err
	}
	s.show(s.views.files())
	return nil
}

// saveStrays writes good frames that are not to be read again to quarantine,
// each run of numbers as a segment of rows, so that inspect can show it.
func (s *Stream) saveStrays(v *sight) error {
	q, err := quarantine(s.fsys, s.dir)
	if err != nil {
		return err
	}
	strays := slices.Clone(v.plan.Strays)
	for i := 0; i < len(strays); {
		rows := slices.Clone(strays[i].Scan.Records(strays[i].Frame))
		end := strays[i].Frame.End()
		k := i + 1
		for ; k < len(strays) && strays[k].Frame.First == end; k++ {
			rows = append(rows, strays[k].Scan.Records(strays[k].Frame)...)
			end = strays[k].Frame.End()
		}
		name, err := s.saveRows(q, strays[i].Frame.First, rows)
		if err != nil {
			return err
		}
		s.report.SetAside = append(s.report.SetAside, name)
		i = k
	}
	return s.fsys.SyncDir(q)
}

func (s *Stream) saveRows(q string, first uint64, rows []byte) (string, error) {
	name, err := freeName(s.fsys, q, segment.Name(first)+".stray")
	if err != nil {
		return "", err
	}
	m := segment.Meta{ID: s.id, Capacity: uint32(s.info.Capacity), Schema: s.schema}
	e := s.sealer.encoder.get(m, segment.Rows, rows, nil)
	if e.err != nil {
		return "", e.err
	}
	e.stamp(s.now().UnixMilli(), 0)
	return name, disk.Make(s.fsys, filepath.Join(q, name), true, disk.Content(e.image))
}

// rejournalFrame is how much one frame of a re-journaled segment holds.
const rejournalFrame = 64 << 10

// rejournal writes the remaining records to a free journal: frames first, on
// disk, and only then the header that makes them count (7c).
func (s *Stream) rejournal(v *sight, rest journal.Live) (n int, err error) {
	n = v.freeJournal(rest.Scan)
	if v.sizes[n] != journal.Size(s.info.Capacity, s.width) {
		if err := journal.Make(s.fsys, s.dir, n, s.info.Capacity, s.width); err != nil {
			return n, err
		}
		v.sizes[n] = journal.Size(s.info.Capacity, s.width)
	}
	j, err := s.openJournal(n)
	if err != nil {
		return n, err
	}
	s.ring.files[n] = j
	m := s.recovered(j)
	rows, ok := v.plan.Rows(m.rows[:0], rest.First, rest.End)
	if !ok || len(rows) > len(m.rows) {
		return n, &CorruptError{Path: journal.Name(n), Offset: -1, From: rest.First, To: rest.End, Detail: "records are not where replay found them"}
	}
	s.gen++
	j.Prepare(s.header(s.gen, rest.First, v.plan.Next))
	if err := s.rejournalTable(j, len(rows), v.plan.Witness); err != nil {
		return n, err
	}
	m.n = len(rows) / s.width
	step := s.rejournalStep()
	for at := 0; at < len(rows); at += step {
		if err := j.Records(rows[at:min(at+step, len(rows))], false, v.plan.Witness); err != nil {
			return n, err
		}
	}
	if err := j.Sync(); err != nil {
		return n, err
	}
	if err := j.WriteHeader(); err != nil {
		return n, err
	}
	if err := j.Sync(); err != nil {
		return n, err
	}
	s.restrict(m)
	s.begin(m, rest.First)
	m.synced = m.end()
	if m.n > 0 && m.n == m.limit {
		m.ended, s.active = true, nil
	}
	return n, nil
}

// rejournalTable writes the producers' window to a journal that will hold rows
// bytes of records: as much of it as fits beside them.
func (s *Stream) rejournalTable(j *journal.Journal, rows int, durable uint64) error {
	t := s.producers.bytes()
	frames := rows/s.rejournalStep() + 1
	room := j.Room() - rows - frames*journal.FrameSize - journal.FrameSize
	if over := len(t) - room; over > 0 {
		t = t[min(len(t), (over+entrySize-1)/entrySize*entrySize):]
	}
	if len(t) == 0 {
		return nil
	}
	return j.Extension(t, durable)
}

// rejournalStep is how many bytes of records one frame of a re-journaled segment has.
func (s *Stream) rejournalStep() int {
	return max(1, (rejournalFrame-journal.FrameSize)/s.width) * s.width
}

// freeJournal picks the journal to go on in: not the one that holds what is
// left, the one that is longest out of use, or one that isn't made yet.
func (v *sight) freeJournal(keep *journal.Scan) int {
	best, bestGen := -1, uint64(0)
	for n := range journal.Ring {
		if keep != nil && keep.N == n {
			continue
		}
		var gen uint64
		for _, s := range v.scans {
			if s.N == n {
				gen = s.Header.Generation
			}
		}
		// Among those that never were in use, one that is made comes first.
		if best < 0 || gen < bestGen || gen == bestGen && v.sizes[best] < 0 && v.sizes[n] >= 0 {
			best, bestGen = n, gen
		}
	}
	return best
}

// zeroOthers makes every other journal no journal (7d), the oldest first: one
// that a newer one makes void goes before it.
func (s *Stream) zeroOthers(v *sight, used int) error {
	var gens [journal.Ring]uint64
	for _, x := range v.scans {
		gens[x.N] = x.Header.Generation
	}
	order := []int{0, 1, 2, 3}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gens[a], gens[b]) })
	for _, n := range order {
		size := v.sizes[n]
		if n == used || size < 0 {
			continue
		}
		if err := zeroHeaders(s.fsys, filepath.Join(s.dir, journal.Name(n)), size); err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
	}
	return nil
}

func zeroHeaders(fsys disk.FS, path string, size int64) error {
	f, err := fsys.OpenRW(path)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, min(size, journal.FramesAt)), 0)
	if err == nil {
		err = f.DataSync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// openRing opens the journals that exist and are of the right size; those of
// another size are free now, and made anew when one is needed. All but the live
// ones are spare: opening them and touching their pages is not Open's to wait for.
func (s *Stream) openRing(v *sight, rebuilt bool) error {
	live := make(map[int]bool)
	if !rebuilt {
		for _, l := range v.plan.Live {
			live[l.Scan.N] = true
		}
	}
	for n, size := range v.sizes {
		if size != journal.Size(s.info.Capacity, s.width) {
			continue
		}
		if s.ring.files[n] != nil { // taken into use by rejournal
			continue
		}
		if !live[n] { // free: the maker opens it in the background
			s.ring.spare[n] = true
			continue
		}
		j, err := s.openJournal(n)
		if err != nil {
			return err
		}
		s.ring.files[n] = j
	}
	s.ring.want = 1
	return nil
}
