package feed

import (
	"bufio"
	"fmt"
	"io"
)

// rawSource reads records as they stand in memory, one behind the other.
type rawSource struct {
	r     *bufio.Reader
	width int // bytes
	n     int // records read
}

func (s *rawSource) Line() int   { return s.n }
func (s *rawSource) Ready() bool { return s.r.Buffered() >= s.width }

func (s *rawSource) Next(rec []byte) error {
	n, err := io.ReadFull(s.r, rec)
	switch err {
	case nil:
		s.n++
	case io.ErrUnexpectedEOF:
		return &LineError{"record", s.n + 1, fmt.Errorf("%d bytes are left, a record has %d", n, s.width)}
	}
	return err
}
