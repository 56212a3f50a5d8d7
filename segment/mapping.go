package segment

import (
	"bytes"
	"fmt"
	"math"

	"example.com/ledger/internal/disk"
)

// A view is a mapped file and where its columns lie.
type view struct {
	f    *File
	m    disk.Mapping
	data []byte
	geo  Geometry
	n    int // columns: ts and the fields
	cols [columnsMax]place
	all  Segment // all records of the file
}

// A place is where a column lies in a column file, and its values in a record.
type place struct {
	off    int // of the first value in the file
	target int // of the value in a record in row form
	size   int // of a value
}

func newView(f *File, m disk.Mapping) *view {
	geo, _ := Locate(f.s, f.h.Layout(), f.h.Count) // its size was checked by Open
	v := &view{f: f, m: m, data: m.Bytes(), geo: geo, n: 1 + f.s.NumFields()}
	for c := range v.n {
		v.cols[c] = place{int(geo.Column[c]), recordOffset(f.s, c), columnField(f.s, c).Kind.Size()}
	}
	v.all = Segment{s: f.s, v: v, first: f.h.First, n: int(geo.Count)}
	if geo.Layout == Rows {
		v.all.rows = v.data[HeaderSize:geo.Footer]
	}
	return v
}

// Acquire returns the records, and maps the file unless it is mapped. Each
// Acquire that succeeds needs one Release. If the file is mapped it takes no
// lock. Mapping fails with an error of the system, or with a *CorruptError if
// there is another file at the path now.
func (f *File) Acquire() (Segment, error) {
	if f.hold() {
		return f.view.all, nil
	}
	return f.acquireSlow()
}

func (f *File) acquireSlow() (Segment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hold() {
		if err := f.mapFile(); err != nil {
			return Segment{}, err
		}
		f.kept = true
		f.used.Store(true)
		f.refs.Store(2) // the caller and the mapping itself
	}
	return f.view.all, nil
}

// hold counts a user if the file is mapped. From 0 the count goes up under mu
// only: whoever sees it above 0 sees the view, too.
func (f *File) hold() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			if !f.used.Load() {
				f.used.Store(true)
			}
			return true
		}
	}
}

// mapFile makes the view, under mu. One that is still there, because whoever
// released it last has not come to unmap it, goes on.
func (f *File) mapFile() error {
	if f.view != nil {
		return nil
	}
	if f.size > math.MaxInt {
		return fmt.Errorf("%s: segment: %d bytes are too many to map on this machine", f.path, f.size)
	}
	d, err := f.fsys.Open(f.path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := f.same(d); err != nil {
		return in(f.path, f.h.First, f.h.End(), err)
	}
	m, err := d.Map(int(f.size), false)
	if err != nil && maps.evict(maps.count()/8+1, math.MaxInt) > 0 {
		m, err = d.Map(int(f.size), false) // there may be room for a mapping now
	}
	if err != nil {
		return err
	}
	f.view = newView(f, m)
	maps.add(f)
	return nil
}

// same tells whether d is the file that Open read the header of.
func (f *File) same(d disk.File) error {
	size, err := d.Size()
	if err != nil {
		return err
	}
	if size < f.size {
		return short(size, f.size)
	}
	if size > f.size {
		return corrupt(f.size, "size", "%d bytes, %d when it was opened", size, f.size)
	}
	var now [HeaderSize]byte
	if err := readFull(d, now[:], 0); err != nil {
		return err
	}
	if !bytes.Equal(now[:], f.raw[:]) {
		return corrupt(0, "header", "not what it was when the file was opened")
	}
	return nil
}

// Release ends the use of what one Acquire returned: all that came from it is
// void. The last one unmaps a file that Evict was called on.
func (f *File) Release() {
	switch n := f.refs.Add(-1); {
	case n < 0:
		f.refs.Add(1)
		panic(tooOften)
	case n == 0:
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.refs.Load() != 0 {
			return // acquired anew
		}
		if f.kept {
			f.refs.Add(1) // that was the mapping's own
			panic(tooOften)
		}
		f.unmap()
	case eager && n == 1:
		f.evictIdle()
	}
}

const tooOften = "segment: a File was released more often than acquired"

// Mapped tells whether the file is mapped now.
func (f *File) Mapped() bool { return f.refs.Load() > 0 }

// Evict lets the mapping go: at once if nobody uses it, else with the last
// Release. It returns whether the file is unmapped. A later Acquire may map it
// anew. Call it before the file is unlinked, and when the stream is closed.
func (f *File) Evict() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept {
		f.kept = false
		if f.refs.Add(-1) == 0 {
			f.unmap()
		}
	}
	return f.view == nil
}

// evictIdle unmaps the file if nobody uses it, and returns whether it did. It
// waits for no lock, so that it may be called with another File's held.
func (f *File) evictIdle() bool {
	if !f.mu.TryLock() {
		return false
	}
	defer f.mu.Unlock()
	if !f.kept || !f.refs.CompareAndSwap(1, 0) {
		return false
	}
	f.kept = false
	f.unmap()
	return true
}

// unmap ends the view, under mu, when refs is 0.
func (f *File) unmap() {
	if f.view == nil {
		return // another got here first
	}
	maps.remove(f)
	_ = f.view.m.Unmap() // it can only fail if the arguments are wrong
	f.view = nil
}
