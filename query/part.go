package query

import (
	"errors"

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
