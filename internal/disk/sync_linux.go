package disk

import (
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

func (f *osFile) Sync() error { return Classed(f.f.Sync()) }

// A dataSync is one fdatasync under way. They are kept in a pool, so that a
// commit allocates nothing.
type dataSync struct {
	err error
	run func(fd uintptr)
}

var dataSyncs = sync.Pool{New: func() any {
	s := new(dataSync)
	s.run = func(fd uintptr) {
		s.err = uninterrupted(func() error { return unix.Fdatasync(int(fd)) })
	}
	return s
}}

// DataSync keeps the descriptor from being closed, and its number from being
// used again, until the call is back.
func (f *osFile) DataSync() error {
	s := dataSyncs.Get().(*dataSync)
	var err error
	if f.raw.Control(s.run) != nil { // run wasn't called
		err = fs.ErrClosed
	} else {
		err = s.err
	}
	dataSyncs.Put(s)
	if err != nil {
		return Classed(&fs.PathError{Op: "fdatasync", Path: f.f.Name(), Err: err})
	}
	return nil
}
