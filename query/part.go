package query

import (
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// A source is what a query reads: the parts of a snapshot.
type source interface {
	// parts appends the parts that hold records of [from, to), in order, and the
	// ranges that are gone.
	parts(dst []part, from, to uint64) ([]part, []stream.DroppedError, error)
}

// A part is a run of records in one segment, and what is known of it without
// reading a value.
type part interface {
	first() uint64
	len() int
	// times returns bounds of the times; ok is false where none are known.
	times() (lo, hi int64, sorted, ok bool)
	// bounds returns bounds of a field, as bits.
	bounds(field int) (lo, hi int64, ok bool)
	// exact reports whether all bounds are those of these very records.
	exact() bool
	acquire() (segment.Segment, error)
	release()
	count(read bool)
}

type snapshotSource struct{ v *stream.Snapshot }

func (s snapshotSource) parts(dst []part, from, to uint64) ([]part, []stream.DroppedError, error) {
	var gone []stream.DroppedError
	for p, err := range s.v.Parts(stream.Seq(max(from, uint64(s.v.First()))), stream.Seq(to)) {
		if d, ok := err.(*stream.DroppedError); ok {
			gone = append(gone, *d)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		dst = append(dst, snapshotPart{p})
	}
	return dst, gone, nil
}

type snapshotPart struct{ p stream.Part }

func (p snapshotPart) first() uint64 { return uint64(p.p.First) }
func (p snapshotPart) len() int      { return p.p.Len() }

func (p snapshotPart) times() (lo, hi int64, sorted, ok bool) {
	h, ok := p.p.Header()
	return h.MinTime, h.MaxTime, h.Sorted(), ok
}

func (p snapshotPart) bounds(field int) (lo, hi int64, ok bool) { return p.p.Bounds(field) }

func (p snapshotPart) exact() bool {
	h, ok := p.p.Header()
	return ok && h.Count == uint64(p.p.Len())
}

func (p snapshotPart) acquire() (segment.Segment, error) { return p.p.Acquire() }
func (p snapshotPart) release()                          { p.p.Release() }

func (p snapshotPart) count(read bool) {
	if read {
		p.p.Count()
	} else {
		p.p.Skip()
	}
}
