package importer

import (
	"context"
	"io"
	"io/fs"
)

// A stoppable reads what may keep it waiting, such as a pipe. When its context
// ends it waits no more; what comes then is lost.
type stoppable struct {
	ctx  context.Context
	more chan struct{} // asks for the next piece
	got  chan piece    // has room for one
	rest []byte        // of the last piece
	err  error         // of all further reads
	shut bool
}

// A piece is what one Read of a source returned.
type piece struct {
	b   []byte
	err error
}

// newStoppable opens a source, which may wait as well, and reads it.
func newStoppable(ctx context.Context, open func() (io.ReadCloser, error)) *stoppable {
	s := &stoppable{ctx: ctx, more: make(chan struct{}), got: make(chan piece, 1)}
	go func() {
		src, err := open()
		if err == nil {
			defer src.Close()
		}
		b := make([]byte, 64<<10)
		for range s.more {
			n := 0
			if err == nil {
				n, err = src.Read(b)
			}
			s.got <- piece{b[:n], err}
		}
	}()
	return s
}

func (s *stoppable) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		select {
		case s.more <- struct{}{}:
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
			continue
		}
		select {
		case g := <-s.got:
			s.rest, s.err = g.b, g.err
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close lets the source go, as soon as it is no longer waited for.
func (s *stoppable) Close() error {
	if !s.shut {
		close(s.more)
		s.shut, s.rest, s.err = true, nil, fs.ErrClosed
	}
	return nil
}
