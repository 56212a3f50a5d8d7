package query

import (
	"errors"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// A part is a run of records in one segment, and what is known of it without
// reading a value.
type part struct {
	stream.Part
	h      segment.Header // of a sealed one
	sealed bool
}

// parts appends the parts of a snapshot that hold records of [from, to) to dst,
// in order. Ranges that are gone come back by themselves.
func parts(dst []part, v *stream.Snapshot, from, to uint64) ([]part, []stream.DroppedError, error) {
	var gone []stream.DroppedError
	for p, err := range v.Parts(max(stream.Seq(from), v.First()), stream.Seq(to)) {
		if err == nil {
			h, ok := p.Header()
			dst = append(dst, part{p, h, ok})
			continue
		}
		d, ok := errors.AsType[*stream.DroppedError](err)
		if !ok {
			return dst, nil, err
		}
		gone = append(gone, *d)
	}
	return dst, gone, nil
}

// sorted reports whether times never go backwards.
func (p *part) sorted() bool { return p.sealed && p.h.Sorted() }

// whole reports whether all bounds that are known are those of these very records.
func (p *part) whole() bool { return p.sealed && p.h.Count == uint64(p.Len()) }

// bounds returns the order numbers between which a column's values lie, if that
// is known without reading them. Those of fields cost a look at the footer.
func (p *part) bounds(id int, k schema.Kind) (span, bool) {
	var lo, hi int64
	known := true
	switch id {
	case colSeq:
		lo, hi = int64(p.First), int64(p.End-1)
	case colTime:
		lo, hi, known = p.h.MinTime, p.h.MaxTime, p.sealed
	default:
		lo, hi, known = p.Bounds(id)
	}
	return span{order(uint64(lo), k.Signed()), order(uint64(hi), k.Signed())}, known
}
