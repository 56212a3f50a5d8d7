package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"example.com/ledger/internal/journal"
)

var journalFields = []fieldAt{
	{0, 4, "magic"}, {4, 2, "version"}, {6, 2, "width"}, {8, 8, "generation"}, {16, 8, "first_seq"},
	{24, 8, "salt"}, {32, 8, "durable_base"}, {40, 16, "id"}, {56, 4, "tag"}, {60, 1, "mode"},
	{61, 3, "zeros"}, {64, 4, "crc"},
}

// The table above, checked by the compiler.
const (
	_ uint = journal.HeaderSize - (64 + 4)
	_ uint = (64 + 4) - journal.HeaderSize
)

const modeCommit = 0

// facts are what the files around a journal say about it.
type facts struct {
	needless bool           // void or free: nothing in it is read again
	witness  uint64         // all below was durable once
	covered  journal.Ranges // numbers in sealed files, in drops.json, or in another journal's replay
	scan     *journal.Scan  // of the journal, if it was read before
}

// A journalWalk describes the bytes of one journal.
type journalWalk struct {
	data   []byte
	facts  facts
	header journal.Header
	scan   *journal.Scan
	quiet  bool
	ranges []Range
}

// describeJournal returns the ranges of a journal's bytes. capacity is the
// stream's, or 0 where it isn't known. With quiet only what is wrong is wanted:
// right headers and frames are a range each.
func describeJournal(data []byte, f facts, capacity int, quiet bool) []Range {
	w := &journalWalk{data: data, facts: f, quiet: quiet}
	if len(data) < journal.FramesAt {
		w.put(Range{Length: int64(len(data)), Meaning: "part of a header", Class: Meta, Check: None})
		w.put(Range{Meaning: "end of file", Class: Meta, Check: Bad, kind: KindSize,
			Detail: fmt.Sprintf("%d bytes are no journal", len(data))})
		return w.ranges
	}
	h, ok, err := journal.DecodeHeaders(data)
	w.header = h
	if w.scan = f.scan; w.scan == nil && ok {
		w.scan, err = journal.Read(0, data, h, roomFor(data, h, capacity))
	}
	if w.scan != nil {
		w.facts.witness = max(w.facts.witness, w.scan.Durable)
	}
	w.headers(ok)
	switch {
	case err != nil:
		w.put(Range{Length: int64(len(data)) - journal.FramesAt, Meaning: "frames", Class: Data, Check: None})
		w.put(Range{Meaning: "end of file", Class: Meta, Check: Bad, kind: kindOfError(err, KindHeader), Detail: detailOf(err)})
	case w.scan == nil:
		w.put(Range{Length: int64(len(data)) - journal.FramesAt, Meaning: "space", Class: Free, Check: None})
	default:
		w.frames()
	}
	if f.needless {
		for i := range w.ranges {
			w.ranges[i].Class, w.ranges[i].Check, w.ranges[i].Detail = Free, None, ""
		}
	}
	if _, right := journal.Capacity(int64(len(data)), int(h.Width)); ok && err == nil && !right {
		w.put(Range{Meaning: "end of file", Class: Meta, Check: Bad, kind: KindSize,
			Detail: fmt.Sprintf("%d bytes is no size of a journal of records of %d bytes", len(data), h.Width)})
	}
	return w.ranges
}

// roomFor is the capacity to read a journal with: the stream's, and for a file
// that was cut short, where that isn't known, the largest there is.
func roomFor(data []byte, h journal.Header, capacity int) int {
	if _, whole := journal.Capacity(int64(len(data)), int(h.Width)); !whole && capacity < 1 {
		return capacityMax
	}
	return capacity
}

func (w *journalWalk) put(r Range) {
	if r.Length == 0 && r.Check != Bad {
		return
	}
	r.Offset = w.end()
	w.ranges = append(w.ranges, r)
}

func (w *journalWalk) end() int64 {
	if n := len(w.ranges); n > 0 {
		return w.ranges[n-1].Offset + w.ranges[n-1].Length
	}
	return 0
}

// headers describes both copies of the header; valid tells whether one counts. If
// none does, a power cut may have torn both as they were written or zeroed: the
// journal is none, and if records of it were durable, they are missed.
func (w *journalWalk) headers(valid bool) {
	for _, off := range []int64{0, journal.HeaderCopy} {
		b := w.data[off : off+journal.HeaderSize]
		h, ok, err := journal.DecodeHeader(b)
		switch {
		case err != nil:
			w.put(Range{Length: journal.HeaderSize, Meaning: "header", Class: Meta, Check: Bad, kind: KindVersion, Detail: detailOf(err)})
		case ok && h.Generation == w.header.Generation && (w.synced() || !w.twice()):
			w.fields(b, Meta, OK)
		case ok:
			w.fields(b, Free, None)
		case blank(b):
			w.put(Range{Length: journal.HeaderSize, Meaning: "header, zeroed", Class: Free, Check: None})
		case !valid || !w.synced():
			w.put(Range{Length: journal.HeaderSize, Meaning: "header, torn", Class: Free, Check: None})
		default:
			w.put(Range{Length: journal.HeaderSize, Meaning: "header", Class: Meta, Check: Bad, kind: KindHeader,
				Detail: "crc does not hold; the other copy is right"})
		}
		next := int64(journal.HeaderCopy)
		if off > 0 {
			next = journal.FramesAt
		}
		w.put(Range{Length: next - w.end(), Meaning: "space", Class: Free, Check: None})
	}
}

// blank tells whether a header's bytes never were a header's, or were zeroed. A
// header that was damaged still has its id and its salt.
func blank(b []byte) bool { return len(b)-bytes.Count(b, []byte{0}) < 8 }

// synced tells whether the header was on disk, both copies of it: so it was if
// any record behind it was. Before that a power cut may have torn one copy, and
// each is free to be wrong as long as the other is right.
func (w *journalWalk) synced() bool { return w.facts.witness > w.header.First }

// twice tells whether both copies are right and the same.
func (w *journalWalk) twice() bool {
	return bytes.Equal(w.data[:journal.HeaderSize], w.data[journal.HeaderCopy:journal.HeaderCopy+journal.HeaderSize])
}

// differing counts the bytes of a that are not as in b.
func differing(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func (w *journalWalk) fields(b []byte, class Class, check Check) {
	if w.quiet {
		w.put(Range{Length: journal.HeaderSize, Meaning: "header", Class: class, Check: check})
		return
	}
	for _, f := range journalFields {
		w.put(Range{Length: f.len, Meaning: f.name, Class: class, Check: check, Value: journalValue(f, b[f.off:f.off+f.len])})
	}
}

func journalValue(f fieldAt, b []byte) string {
	switch f.name {
	case "magic":
		return strconv.Quote(string(b))
	case "salt", "tag", "crc":
		return fmt.Sprintf("%0*x", 2*f.len, unsigned(b))
	case "id":
		return fmt.Sprintf("%x", b)
	case "zeros":
		return ""
	}
	return strconv.FormatUint(unsigned(b), 10)
}

// frames describes all from the first frame on.
func (w *journalWalk) frames() {
	s := w.scan
	exts := s.Exts
	if w.quiet {
		w.put(Range{Length: s.Stop - journal.FramesAt, Meaning: "frames", Class: Data, Check: OK})
		w.behind()
		return
	}
	for _, f := range s.Frames {
		for len(exts) > 0 && exts[0].Offset < f.Offset {
			w.extension(exts[0])
			exts = exts[1:]
		}
		w.frame(f)
	}
	for _, x := range exts {
		w.extension(x)
	}
	if s.StopKind >= 0 {
		w.mark(s.Stop)
	}
	w.behind()
}

func (w *journalWalk) frame(f journal.Frame) {
	value := fmt.Sprintf("[%d, %d) durable %d", f.First, f.End(), f.Durable)
	if f.More {
		value += ", goes on"
	}
	w.put(Range{Length: journal.FrameSize, Meaning: "frame", Class: Meta, Check: OK, Value: value, from: f.First, to: f.End()})
	w.put(Range{Length: int64(f.Count) * int64(w.header.Width), Meaning: "records", Class: Data, Check: OK,
		Value: fmt.Sprintf("%d of %d bytes", f.Count, w.header.Width), from: f.First, to: f.End()})
}

func (w *journalWalk) extension(x journal.Extension) {
	w.put(Range{Length: journal.FrameSize + int64(len(x.Data)), Meaning: "extension", Class: Meta, Check: OK,
		Value: fmt.Sprintf("%d bytes", len(x.Data))})
}

// mark describes the mark at off. Changing it changes no record; it is gone then,
// as if the writer hadn't come so far.
func (w *journalWalk) mark(off int64) {
	name := "mark"
	if binary.LittleEndian.Uint32(w.data[off+4:])>>28 == journal.KindClosing {
		name = "closing mark"
	}
	w.put(Range{Length: journal.FrameSize, Meaning: name, Class: Free, Check: None,
		Value: fmt.Sprintf("durable %d", binary.LittleEndian.Uint64(w.data[off+8:]))})
}
