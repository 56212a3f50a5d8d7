package verify

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/ledger/internal/journal"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

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
		first, end := f.first, f.first+d.countOf(f)
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

// claim notes the records that a damaged file has, or had.
func (d *verdict) claim(f *segmentFile, first, end uint64) {
	if first < end {
		d.claimed = append(d.claimed, claim{name: f.name, first: first, end: end})
	}
}

// badHeader judges a file whose header doesn't say what it has. Its records are
// counted from its size.
func (d *verdict) badHeader(f *segmentFile, proven uint64) {
	end := f.first + d.countOf(f)
	if d.looseEnd(f) && (f.first >= proven || d.held(f.first, f.first+1)) {
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

// held tells whether a journal has the records [first, end), so that what is
// proven to be on disk may be that.
func (d *verdict) held(first, end uint64) bool {
	return slices.ContainsFunc(d.journals, func(j *journalFile) bool {
		return j.ok && j.header.First <= first && end <= j.scan.End
	})
}

// goodHeader judges a file of this stream.
func (d *verdict) goodHeader(f *segmentFile, proven uint64) {
	h := f.walk.header
	if d.looseEnd(f) && (h.End() > proven || d.held(h.First, h.End())) {
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
	for from, ok := d.gone.Next(h.First); ok && from < h.End(); {
		to := min(d.gone.Skip(from), h.End())
		d.problem(Problem{File: f.name, Kind: KindOverlap, Offset: -1, FromSeq: from, ToSeq: to,
			Detail: "these records are here, and drops.json says they are gone"})
		from, ok = d.gone.Next(to)
	}
	d.claimed = append(d.claimed, claim{name: f.name, first: h.First, end: h.End(), right: true})
	d.sealed = append(d.sealed, journal.Sealed{First: h.First, End: h.End(), Durable: h.Flags&segment.FlagDurable != 0})
	if !f.bad() {
		d.report.Records += h.Count
	}
}

// countOf returns how many records a file whose header is damaged has: as many
// as it proves, or as many as its size allows and as lie below the next file.
func (d *verdict) countOf(f *segmentFile) uint64 {
	if f.count > 0 {
		return f.count
	}
	n := d.countBySize(f)
	i, _ := slices.BinarySearchFunc(d.segments, f.first, func(o *segmentFile, first uint64) int { return cmp.Compare(o.first, first) })
	if i++; i < len(d.segments) {
		n = min(n, d.segments[i].first-f.first)
	}
	return n
}

// countBySize returns the largest number of records that a file's size allows:
// in the layout that its header says, if it says any, or else in the stream's.
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
