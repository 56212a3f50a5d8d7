package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
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
	right      bool // its header is
}

// judge says what is wrong with what was seen.
func (v *sight) judge() *verdict {
	d := &verdict{sight: v, report: &Report{Dir: v.dir, Problems: []Problem{}}, gone: dropRanges(v.drops)}
	d.metadata()
	d.beside()
	d.consumerFiles()
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

// beside judges the sidecars.
func (d *verdict) beside() {
	id := ""
	if d.known {
		id = meta.FormatID(d.id)
	}
	for name, b := range d.sidecars {
		err := meta.CheckSidecar(name, b, id)
		switch {
		case errors.Is(err, meta.ErrForeign):
			d.problem(Problem{File: name, Kind: KindForeign, Offset: -1, Detail: err.Error()})
		case err != nil:
			d.problem(Problem{File: name, Kind: kindOfError(err, KindMetadata), Offset: -1, Detail: detailOf(err)})
		}
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
		case e.Dir && (e.Name == meta.Quarantine || e.Name == meta.Consumers):
		case ownTmp(e.Name) && e.Regular:
			d.note(e.Name, "left by an interrupted replacement; the next writer removes it")
		case !e.Regular && ownFile(e.Name):
			d.note(e.Name, "not a regular file; it is never read")
		case e.Regular && strings.HasSuffix(e.Name, ".seg"+pending):
			d.note(e.Name, "left by an interrupted repair; the next one sets it aside")
		case !ownFile(e.Name):
			d.note(e.Name, "not a file of a stream; it is never touched")
		default:
			d.report.Bytes += e.Size
		}
	}
}

// overlaps reports numbers that two files have.
func (d *verdict) overlaps() {
	cs := slices.Clone(d.claimed)
	slices.SortStableFunc(cs, func(a, b claim) int { return cmp.Compare(a.first, b.first) })
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
			d.ranges(j.name, describeJournal(j.data, facts{}, 0, true))
		}
		return
	}
	// A damaged file counts as having its records: what is wrong with it is said,
	// and the others are looked at as if it were right.
	e := journal.Evidence{Sealed: d.sealed, Drops: d.gone, Cursor: d.cursor.Durable, Commit: d.commit()}
	for _, c := range d.claimed {
		if !c.right {
			e.Sealed = append(e.Sealed, journal.Sealed{First: c.first, End: c.end})
		}
	}
	slices.SortStableFunc(e.Sealed, func(a, b journal.Sealed) int { return cmp.Compare(a.First, b.First) })
	var headers []journal.Header
	for _, j := range d.journals {
		if j.ok {
			e.Scans = append(e.Scans, j.scan)
			headers = append(headers, j.header)
		}
	}
	d.plan = journal.Recover(e)
	covered := slices.Clone([]journal.Range(d.gone))
	for _, s := range e.Sealed {
		covered = append(covered, journal.Range{From: s.First, To: s.End})
	}
	found := slices.Clone(covered) // and what some journal has
	for _, p := range d.plan.Pieces {
		d.report.Records += p.To - p.From
		found = append(found, journal.Range{From: p.From, To: p.To})
	}
	for _, j := range d.journals {
		if j.data == nil || j.header.Generation != 0 && j.err == nil && !j.ok {
			continue // not read, or of another stream
		}
		f := facts{witness: d.plan.Witness, covered: journal.Union(found), scan: j.scan}
		if j.ok {
			f.needless = needless(j.header, j.scan.End, headers, journal.Union(covered))
		}
		d.ranges(j.name, describeJournal(j.data, f, d.stream.Capacity, true))
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
