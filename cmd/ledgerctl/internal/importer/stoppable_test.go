package importer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"
)

// TestStoppable: what a source has comes out, in pieces of any size, and its error
// behind that.
func TestStoppable(t *testing.T) {
	text := strings.Repeat("0123456789", 20000)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader,
		"halves": iotest.HalfReader, "with the end": iotest.DataErrReader,
	} {
		short := text[:len(text)/10]
		s := newStoppable(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(wrap(strings.NewReader(short))), nil })
		if err := iotest.TestReader(s, []byte(short)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := errors.New("wrong")
	s := newStoppable(t.Context(), func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(text), iotest.ErrReader(wrong))), nil
	})
	if got, err := io.ReadAll(s); err != wrong || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	s = newStoppable(t.Context(), func() (io.ReadCloser, error) { return nil, wrong })
	if _, err := s.Read(make([]byte, 1)); err != wrong {
		t.Errorf("a source that can't be opened: %v", err)
	}
}

// A closer tells when it was closed.
type closer struct {
	io.Reader
	closed chan struct{}
}

func (c closer) Close() error {
	close(c.closed)
	return nil
}

// TestStoppableStops: nobody waits for a source once the context has ended, and
// the source is let go when it comes back.
func TestStoppableStops(t *testing.T) {
	in, feed := io.Pipe()
	src := closer{in, make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	s := newStoppable(ctx, func() (io.ReadCloser, error) { return src, nil })
	go func() {
		_, _ = feed.Write([]byte("abc")) // it is read at once
		cancel()
	}()
	got, err := io.ReadAll(s)
	if err != context.Canceled || !strings.HasPrefix("abc", string(got)) {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Read(make([]byte, 1)); err != fs.ErrClosed {
		t.Errorf("behind its end: %v", err)
	}
	feed.Close()
	<-src.closed

	ctx, cancel = context.WithCancel(t.Context())
	opened := make(chan struct{})
	s = newStoppable(ctx, func() (io.ReadCloser, error) { <-opened; return nil, fs.ErrNotExist })
	cancel()
	if _, err := s.Read(make([]byte, 1)); err != context.Canceled {
		t.Errorf("a source that isn't open yet: %v", err)
	}
	close(opened)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
