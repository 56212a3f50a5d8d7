package exporter

import (
	"errors"
	"fmt"
	"io"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// ErrSegment: these records can't be one raw segment.
var ErrSegment = errors.New("not one segment")

// A segmentSink writes one column file, which says itself what is in it.
type segmentSink struct {
	w        io.Writer
	m        segment.Meta
	sealedAt int64
	rows     []byte
	next     uint64 // the number that must come, if there are rows
	err      error
}

// NewSegment returns a Sink of a raw segment of the stream that m tells of, sealed
// at that time (Unix milliseconds). Its records' numbers must have no gaps, there
// must be at least one and at most stream.CapacityMax, or the error is ErrSegment;
// they are held in memory until Close.
func NewSegment(w io.Writer, m segment.Meta, sealedAt int64) Sink {
	return &segmentSink{w: w, m: m, sealedAt: sealedAt}
}

func (s *segmentSink) Write(g segment.Segment, at []uint32) error {
	if s.err == nil {
		s.err = s.write(g, at)
	}
	return s.err
}

func (s *segmentSink) write(g segment.Segment, at []uint32) (err error) {
	if at == nil {
		if err := s.follows(g.First(), g.Len()); err != nil {
			return err
		}
		s.rows, err = g.Rows(s.rows, 0, g.Len())
		return err
	}
	for _, i := range at {
		if err := s.follows(g.First()+uint64(i), 1); err != nil {
			return err
		}
		if s.rows, err = g.Record(s.rows, int(i)); err != nil {
			return err
		}
	}
	return nil
}

// follows takes notice of n records from first on.
func (s *segmentSink) follows(first uint64, n int) error {
	if len(s.rows) > 0 && first != s.next {
		return fmt.Errorf("%w: record %d follows %d", ErrSegment, first, s.next-1)
	}
	if len(s.rows)/s.m.Schema.Width()+n > stream.CapacityMax {
		return fmt.Errorf("%w: more than %d records", ErrSegment, stream.CapacityMax)
	}
	s.next = first + uint64(n)
	return nil
}

func (s *segmentSink) Close() error {
	if s.err != nil {
		return s.err
	}
	if len(s.rows) == 0 {
		return fmt.Errorf("%w: no records", ErrSegment)
	}
	image, _, err := new(segment.Writer).Encode(s.m, segment.Columns, s.rows, s.sealedAt, 0)
	if err != nil {
		return err
	}
	_, err = s.w.Write(image)
	return err
}
