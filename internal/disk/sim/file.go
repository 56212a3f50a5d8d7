package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"example.com/ledger/internal/disk"
)

// A file is a description.
type file struct {
	d        *Disk
	n        *node
	path     string
	id       int
	writable bool
	closed   bool
	errors   int // how many of the node's failed writings back it was told of
}

func (f *file) op(kind Kind) Op { return Op{Kind: kind, Path: f.path, Desc: f.id} }

// do runs one operation of an open description.
func (f *file) do(op Op, run func(verdict error) error) error {
	return f.d.doFailing(op, func(verdict error) error {
		if f.closed {
			return os.ErrClosed
		}
		return run(verdict)
	})
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	op := f.op(OpRead)
	op.Off, op.Len = off, len(p)
	var end error
	err = f.do(op, func(verdict error) error {
		if verdict != nil {
			return verdict
		}
		if off < 0 {
			return syscall.EINVAL
		}
		for n < len(p) && off+int64(n) < int64(len(f.n.data)) {
			b := f.d.buf[:min(len(p)-n, len(f.d.buf), len(f.n.data)-int(off)-n)]
			rawCopy(b, f.n.data[int(off)+n:])
			n += copy(p[n:], b)
		}
		if n < len(p) {
			end = io.EOF
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	return n, end
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	op := f.op(OpWrite)
	op.Off, op.Len = off, len(p)
	err = f.do(op, func(verdict error) error {
		short, isShort := errors.AsType[*ShortWrite](verdict)
		switch {
		case isShort:
			p, verdict = p[:min(short.N, len(p))], short.Err
		case verdict != nil:
			return verdict
		}
		if !f.writable {
			return syscall.EBADF
		}
		if off < 0 {
			return syscall.EINVAL
		}
		n, err = f.n.write(f.d, p, off)
		return errors.Join(err, verdict)
	})
	return n, err
}

func (f *file) Size() (size int64, err error) {
	err = f.do(f.op(OpSize), func(verdict error) error {
		size = int64(len(f.n.data))
		return verdict
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

func (f *file) Sync() error     { return f.sync(OpSync) }
func (f *file) DataSync() error { return f.sync(OpDataSync) }

func (f *file) sync(kind Kind) error {
	return f.do(f.op(kind), func(verdict error) error {
		if verdict == nil {
			f.n.sync()
		} else {
			f.n.failWriteback(verdict)
		}
		if f.errors < f.n.errors {
			f.errors = f.n.errors
			f.n.reported = true
			return f.n.err
		}
		return nil
	})
}

func (f *file) Map(n int, writable bool) (disk.Mapping, error) {
	op := f.op(OpMap)
	op.Len, op.Writable = n, writable
	m := &mapping{f: f, n: f.n, writable: writable}
	err := f.do(op, func(verdict error) error {
		switch {
		case verdict != nil:
			return verdict
		case n < 1 || n > len(f.n.data):
			return fmt.Errorf("%d bytes asked of a file of %d", n, len(f.n.data))
		case writable && !f.writable:
			return syscall.EACCES
		}
		f.n.own()
		f.n.opens++
		f.n.maps++
		if writable {
			if f.n.stores == 0 {
				f.n.seen = clone(f.n.data)
			}
			f.n.stores++
		}
		f.d.mapped[f.n] = true
		m.epoch = f.n.epoch
		m.bytes = f.n.data[:n:n]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close closes the description even if it returns an error.
func (f *file) Close() error {
	return f.do(f.op(OpClose), func(verdict error) error {
		f.closed = true
		f.n.opens--
		f.d.free(f.n)
		return verdict
	})
}

// A mapping is a slice of its file's cache.
type mapping struct {
	f        *file
	n        *node
	bytes    []byte
	writable bool
	ended    bool
	epoch    int
}

func (m *mapping) Bytes() []byte { return m.bytes }

func (m *mapping) WillNeed(off, n int) {}

func (m *mapping) Populate() {}

// Unmap ends the mapping even if it returns an error.
func (m *mapping) Unmap() error {
	return m.f.d.doFailing(m.f.op(OpUnmap), func(verdict error) error {
		if m.ended {
			return os.ErrClosed
		}
		m.ended = true
		m.n.opens--
		if m.epoch == m.n.epoch {
			m.leave()
		}
		m.f.d.free(m.n)
		return verdict
	})
}

// leave takes the mapping off its file. The last one leaves the memory behind,
// overwritten: on a real disk its use would be a fault.
func (m *mapping) leave() {
	n := m.n
	n.notice(m.f.d)
	n.maps--
	if m.writable {
		n.stores--
		if n.stores == 0 {
			n.seen = nil
		}
	}
	if n.maps > 0 {
		return
	}
	delete(m.f.d.mapped, n)
	was := n.data
	n.data = clone(was)
	for i := range was {
		was[i] = 0xDB
	}
}
