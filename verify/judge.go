package verify

import (
	"fmt"
	"slices"

	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A verdict is a report in the making.
type verdict struct {
	*sight
	report  *Report
	gone    journal.Ranges // drops.json
	sealed  []journal.Sealed
	claimed []claim
	plan    *journal.Plan
}

// A claim is a file's, right or damaged, to hold the records of a range.
type claim struct {
	name       string
	first, end uint64
}

// judge says what is wrong with what was seen.
func (v *sight) judge() *verdict {
	d := &verdict{sight: v, report: &Report{Dir: v.dir, Problems: []Problem{}}, gone: dropRanges(v.drops)}
	d.metadata()
	d.names()
	d.segmentFiles()
	d.overlaps()
	d.journalFiles()
	d.recovery()
	sortProblems(d.report.Problems)
	d.report.OK = len(d.report.Problems) == 0
	return d
}

func (d *verdict) problem(p Problem) { d.report.Problems = append(d.report.Problems, p) }

func (d *verdict) note(file, format string, args ...any) {
	d.report.Notes = append(d.report.Notes, Note{File: file, Detail: fmt.Sprintf(format, args...)})
}

// ranges reports the bad ones among the ranges of a file.
func (d *verdict) ranges(file string, rs []Range) {
	for _, r := range rs {
		if r.Check == Bad {
			d.problem(Problem{File: file, Kind: r.kind, Offset: r.Offset, FromSeq: r.from, ToSeq: r.to,
				Detail: r.Meaning + ": " + r.Detail})
		}
	}
}

func dropRanges(m meta.Drops) journal.Ranges {
	var rs []journal.Range
	for _, r := range m.Ranges {
		rs = append(rs, journal.Range{From: r.From, To: r.To})
	}
	return journal.Union(rs)
}

// metadata judges stream.json, drops.json and the cursors page.
func (d *verdict) metadata() {
	switch {
	case notExist(d.streamErr):
		d.problem(Problem{File: meta.StreamFile, Kind: KindMissing, Offset: -1, Detail: "there is none, but files of a stream"})
	case d.streamErr != nil:
		d.problem(Problem{File: meta.StreamFile, Kind: kindOfError(d.streamErr, KindMetadata), Offset: -1, Detail: detailOf(d.streamErr)})
	}
	switch {
	case d.dropsErr != nil:
		d.problem(Problem{File: meta.DropsFile, Kind: kindOfError(d.dropsErr, KindMetadata), Offset: -1, Detail: detailOf(d.dropsErr)})
	case d.drops.ID != "" && d.known && d.drops.ID != meta.FormatID(d.id):
		d.problem(Problem{File: meta.DropsFile, Kind: KindForeign, Offset: -1, Detail: "of stream " + d.drops.ID})
		d.gone = nil
	}
	rs := describeCursors(d.cursorPage)
	d.ranges(meta.CursorFile, rs)
	if c, ok, err := meta.DecodeCursors(d.cursorPage); ok && err == nil && d.known && c.ID != d.id {
		d.problem(Problem{File: meta.CursorFile, Kind: KindForeign, Offset: 16, Detail: "of stream " + meta.FormatID(c.ID)})
	} else if id := idOf(d.cursorPage); !ok && err == nil && d.known && id != nil && string(id) != string(d.id[:]) && !tornFromZeros(id, string(d.id[:])) {
		// Writers never change the id, so that it holds whatever the CRC does.
		d.problem(Problem{File: meta.CursorFile, Kind: KindCursors, Offset: 16, Detail: fmt.Sprintf("id: %x is not the stream's", id)})
	}
}

// idOf returns the id in a cursors page, or nil where there is no whole page.
func idOf(page []byte) []byte {
	if len(page) != meta.CursorSize {
		return nil
	}
	return page[16:32]
}

// names notes what doesn't belong to a stream, and counts what does.
func (d *verdict) names() {
	for _, e := range d.entries {
		switch {
		case e.Dir && e.Name == meta.Quarantine:
		case ownTmp(e.Name) && e.Regular:
			d.note(e.Name, "left by an interrupted replacement; the next writer removes it")
		case !e.Regular && ownFile(e.Name):
			d.note(e.Name, "not a regular file; it is never read")
		case !ownFile(e.Name):
			d.note(e.Name, "not a file of a stream; it is never touched")
		default:
			d.report.Bytes += e.Size
		}
	}
}

// segmentFiles judges each sealed file for itself, and whether it belongs here.
func (d *verdict) segmentFiles() {
	d.report.Segments = len(d.segments)
	proven := d.proven()
	for _, f := range d.segments {
		d.segmentFile(f, proven)
	}
}

// proven is the number below which all is known to have been on disk.
func (d *verdict) proven() uint64 {
	w := d.cursor.Durable
	for _, j := range d.journals {
		if j.ok {
			w = max(w, j.scan.Durable)
		}
	}
	for _, f := range d.segments {
		if f.walk != nil && f.walk.headOK && f.walk.header.Flags&segment.FlagDurable != 0 && f.walk.header.Tag == d.tag {
			w = max(w, f.end())
		}
	}
	return w
}

func (d *verdict) segmentFile(f *segmentFile, proven uint64) {
	if f.err != nil && !d.retired(f) {
		kind := KindRead
		if f.err == errShrunk {
			kind = KindSize
		}
		first, end := f.first, f.first+d.countBySize(f)
		d.problem(Problem{File: f.name, Kind: kind, Offset: -1, FromSeq: first, ToSeq: end, Detail: f.err.Error()})
		d.claim(f, first, end)
		return
	}
	if d.retired(f) {
		d.note(f.name, "its records are in drops.json; the next writer unlinks it")
		return
	}
	switch h := f.walk.header; {
	case !f.walk.headOK:
		d.badHeader(f, proven)
	case h.Legacy:
		d.problem(Problem{File: f.name, Kind: KindHeader, Offset: 60, FromSeq: h.First, ToSeq: f.end(),
			Detail: "a header of the original engine, without a CRC, has no place in a stream"})
		d.claim(f, h.First, f.end())
	case d.known && h.Tag != d.tag:
		d.problem(Problem{File: f.name, Kind: KindForeign, Offset: 56,
			Detail: fmt.Sprintf("tag is %08x, the stream's %08x: of another stream or schema", h.Tag, d.tag)})
	default:
		d.goodHeader(f, proven)
	}
}

// retired tells whether a file is one that retention or a repair took and that
// is there again, as after a power loss, or still, as while a snapshot holds it.
// One that isn't right any more is told by its name.
func (d *verdict) retired(f *segmentFile) bool {
	if f.walk == nil {
		return d.gone.Has(f.first)
	}
	h := f.walk.header
	right := f.walk.headOK && !h.Legacy && h.Tag == d.tag && h.First == f.first &&
		d.schema != nil && segment.Size(d.schema, h.Layout(), h.Count) == f.size
	if !right {
		return d.gone.Has(f.first)
	}
	return d.gone.Covers(h.First, h.End())
}

func (d *verdict) claim(f *segmentFile, first, end uint64) {
	if first < end {
		d.claimed = append(d.claimed, claim{f.name, first, end})
	}
}

// badHeader judges a file whose header doesn't say what it has. Its records are
// counted from its size.
func (d *verdict) badHeader(f *segmentFile, proven uint64) {
	end := f.first + d.countBySize(f)
	if d.looseEnd(f) && f.first >= proven {
		d.note(f.name, "a name without its content: it was not synced before a power loss")
		return
	}
	for _, r := range f.walk.ranges {
		if r.Check == Bad {
			r.from, r.to = f.first, end
			d.ranges(f.name, []Range{r})
		}
	}
	d.claim(f, f.first, end)
}

// looseEnd tells whether a file is what a power loss leaves of one that was
// given its name without a sync, as on an Os stream: it is empty, or zeros, or
// shorter than it says.
func (d *verdict) looseEnd(f *segmentFile) bool {
	if d.stream.Durability != durabilities[2] {
		return false
	}
	if !f.walk.headOK {
		return f.size < headerSize || len(f.raw) == headerSize && [headerSize]byte(f.raw) == [headerSize]byte{}
	}
	return f.walk.header.Flags&segment.FlagDurable == 0 && d.schema != nil &&
		f.size < segment.Size(d.schema, f.walk.header.Layout(), f.walk.count)
}

// goodHeader judges a file of this stream.
func (d *verdict) goodHeader(f *segmentFile, proven uint64) {
	h := f.walk.header
	if d.looseEnd(f) && h.End() > proven {
		d.note(f.name, "cut short: it was not synced before a power loss")
		return
	}
	d.ranges(f.name, f.walk.ranges)
	if m := f.walk.footer; m != nil && d.known && (m.Meta.ID != d.id || !m.Meta.Schema.Equal(d.schema)) {
		d.problem(Problem{File: f.name, Kind: KindForeign, Offset: f.size - int64(streamEntry+columnEntry*len(m.Columns)),
			FromSeq: h.First, ToSeq: h.End(), Detail: "the footer's id or columns are not the stream's"})
	}
	if d.known && int(h.Width) != d.schema.Width() && h.Layout() == segment.Rows {
		d.problem(Problem{File: f.name, Kind: KindHeader, Offset: 6, FromSeq: h.First, ToSeq: h.End(),
			Detail: fmt.Sprintf("width is %d, the stream's %d", h.Width, d.schema.Width())})
	}
	for _, g := range d.gone {
		if from, to := max(g.From, h.First), min(g.To, h.End()); from < to {
			d.problem(Problem{File: f.name, Kind: KindOverlap, Offset: -1, FromSeq: from, ToSeq: to,
				Detail: "these records are here, and drops.json says they are gone"})
		}
	}
	d.claim(f, h.First, h.End())
	d.sealed = append(d.sealed, journal.Sealed{First: h.First, End: h.End(), Durable: h.Flags&segment.FlagDurable != 0})
	if !f.bad() {
		d.report.Records += h.Count
	}
}

// countBySize returns how many records a file has by its size: by what the
// header says of its version, if it says any, or else of the stream's layout.
func (d *verdict) countBySize(f *segmentFile) uint64 {
	if d.schema == nil {
		return 0
	}
	l, _ := segment.ParseLayout(d.stream.Layout)
	if len(f.raw) >= 6 && string(f.raw[:4]) == "OXLS" && f.raw[5] == 0 {
		switch f.raw[4] {
		case 1:
			l = segment.Rows
		case 2:
			l = segment.Columns
		}
	}
	return countBySize(d.schema, l, f.size)
}

// countBySize returns the largest number of records whose file is not larger
// than size.
func countBySize(s *schema.Schema, l segment.Layout, size int64) uint64 {
	lo, hi := uint64(0), uint64(max(size, 0))/8+1 // lo fits, hi doesn't
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if n := segment.Size(s, l, mid); n >= 0 && n <= size {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// overlaps reports numbers that two files have.
func (d *verdict) overlaps() {
	cs := slices.Clone(d.claimed)
	slices.SortStableFunc(cs, func(a, b claim) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	for i := 1; i < len(cs); i++ {
		a, b := cs[i-1], cs[i]
		if a.end > b.first {
			d.problem(Problem{File: b.name, Kind: KindOverlap, Offset: -1, FromSeq: b.first, ToSeq: min(a.end, b.end),
				Detail: "these records are in " + a.name + " too"})
		}
		if a.end > b.end {
			cs[i] = a
		}
	}
}

// journalFiles judges what doesn't depend on the other journals.
func (d *verdict) journalFiles() {
	d.report.Journals = len(d.journals)
	for _, j := range d.journals {
		h := j.header
		switch {
		case j.err != nil && j.data == nil:
			d.problem(Problem{File: j.name, Kind: KindRead, Offset: -1, Detail: j.err.Error()})
		case h.Generation != 0 && d.known && h.ID != d.id:
			d.problem(Problem{File: j.name, Kind: KindForeign, Offset: 40, Detail: fmt.Sprintf("of stream %x", h.ID)})
		case h.Generation != 0 && d.known && (h.Tag != d.tag || int(h.Width) != d.schema.Width()):
			d.problem(Problem{File: j.name, Kind: KindForeign, Offset: 56,
				Detail: fmt.Sprintf("tag is %08x, width %d, the stream's %08x and %d", h.Tag, h.Width, d.tag, d.schema.Width())})
		case h.Generation == 0 && d.known && len(j.data) >= journal.FramesAt:
			if _, whole := journal.Capacity(int64(len(j.data)), d.schema.Width()); !whole {
				d.problem(Problem{File: j.name, Kind: KindSize, Offset: int64(len(j.data)),
					Detail: fmt.Sprintf("%d bytes is no size of a journal of records of %d bytes", len(j.data), d.schema.Width())})
			}
		}
	}
}

// recovery judges the journals and the numbers as a whole, as the engine's
// recovery would find them.
func (d *verdict) recovery() {
	if !d.known {
		for _, j := range d.journals {
			d.ranges(j.name, describeJournal(j.data, facts{}, 0))
		}
		return
	}
	e := journal.Evidence{Sealed: d.sealed, Drops: d.gone, Cursor: d.cursor.Durable, Commit: d.commit()}
	var headers []journal.Header
	for _, c := range d.claimed {
		if !slices.ContainsFunc(e.Sealed, func(s journal.Sealed) bool { return s.First == c.first }) {
			e.Sealed = append(e.Sealed, journal.Sealed{First: c.first, End: c.end})
		}
	}
	slices.SortFunc(e.Sealed, func(a, b journal.Sealed) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	for _, j := range d.journals {
		if j.ok {
			e.Scans = append(e.Scans, j.scan)
			headers = append(headers, j.header)
		}
	}
	d.plan = journal.Recover(e)
	for _, p := range d.plan.Pieces {
		d.report.Records += p.To - p.From
	}
	covered := slices.Clone([]journal.Range(d.gone))
	for _, s := range e.Sealed {
		covered = append(covered, journal.Range{From: s.First, To: s.End})
	}
	for _, j := range d.journals {
		if j.data == nil {
			continue
		}
		f := facts{witness: d.plan.Witness, covered: journal.Union(covered)}
		if j.ok {
			f.needless = needless(j.header, j.scan.End, headers, f.covered)
		}
		d.ranges(j.name, describeJournal(j.data, f, d.stream.Capacity))
	}
	d.gaps()
}

// gaps reports the numbers that are nowhere, but for those that a journal's own
// problem names already.
func (d *verdict) gaps() {
	var said []journal.Range
	for _, p := range d.report.Problems {
		if p.Kind == KindLost || p.Kind == KindHole {
			said = append(said, journal.Range{From: p.FromSeq, To: p.ToSeq})
		}
	}
	report := func(rs []journal.Range, kind, detail string) {
		if d.dropsErr != nil {
			detail += "; drops.json, which may explain it, can't be read"
		}
		for _, r := range rs {
			for _, g := range journal.Union(said).Gaps(r.From, r.To) {
				file, at := d.place(g.From)
				d.problem(Problem{File: file, Kind: kind, Offset: at, FromSeq: g.From, ToSeq: g.To, Detail: detail})
				said = append(said, g)
			}
		}
	}
	report(d.plan.Missing, KindLost, "records that were durable are nowhere")
	report(d.plan.Lost, KindGap, "records that are neither in a file nor in drops.json")
	if !d.commit() && d.plan.Next > d.plan.Stop {
		report([]journal.Range{{From: d.plan.Stop, To: d.plan.Next}}, KindHole, "records can't be read, and good frames stand behind them")
	}
}

// place is the journal that ends at a number, and where.
func (d *verdict) place(seq uint64) (file string, at int64) {
	for _, j := range d.journals {
		if j.ok && j.scan.End == seq {
			return j.name, j.scan.Stop
		}
	}
	return "", -1
}
