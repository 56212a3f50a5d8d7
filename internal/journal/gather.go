package journal

import (
	"slices"
	"sync"
)

// A gather holds frames that are to be written to the file by one pwrite: those of
// many callers who then share a sync. A system call for each would take a third of
// the time of the sync itself.
type gather struct {
	writing sync.Mutex // held during a write: who has it next finds all before it written

	mu    sync.Mutex
	buf   []byte // frames not written yet, the first of them at offset at
	at    int64
	spare []byte
	err   error // of a write: what the file holds is not known from then on
}

const (
	// scratch is what frames may have together so that nothing is allocated, bytes.
	scratch = 64 << 10
	// gatherMax is what is gathered at most before it is written, but for one frame.
	gatherMax = 256 << 10
)

func (g *gather) ready() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.buf == nil {
		g.buf, g.spare = make([]byte, 0, scratch), make([]byte, 0, scratch)
	}
}

// grow returns room for a frame at offset at in the file, and whether it is time
// to write. It leaves mu locked: the frame is filled in under it.
func (g *gather) grow(size int, at int64) (frame []byte, full bool) {
	g.mu.Lock()
	n := len(g.buf)
	if n == 0 {
		g.at = at
	}
	g.buf = slices.Grow(g.buf, size)[:n+size]
	return g.buf[n:], n+size >= gatherMax
}

// Flush writes the frames that were gathered to the file: the system has them
// then, and the death of the process loses none. It does nothing where frames are
// stored. Its first error is final.
func (j *Journal) Flush() error {
	if j.m != nil {
		return nil
	}
	g := &j.gather
	g.writing.Lock()
	defer g.writing.Unlock()
	g.mu.Lock()
	if g.err != nil || len(g.buf) == 0 {
		defer g.mu.Unlock()
		return g.err
	}
	b, at := g.buf, g.at
	g.buf, g.spare = g.spare[:0], nil
	g.mu.Unlock()
	_, err := j.file.WriteAt(b, at)
	g.mu.Lock()
	g.spare, g.err = b, err
	g.mu.Unlock()
	return err
}
