//go:build !linux

package disk

import (
	"os"
	"sync"
)

// Elsewhere a sync of a file isn't known to cover what was stored into its
// mappings, so that the writable ones are remembered, and flushed before it.
var writableMaps struct {
	sync.Mutex
	m map[*osMapping]os.FileInfo
}

type mapTie struct {
	info os.FileInfo // of the mapped file; nil if it is mapped for reading
	own  *os.File    // kept open for the mapping's sake, or nil
}

// hold returns the description to map: one that stays open as long as the
// mapping, where the system asks for it.
func (t *mapTie) hold(f *os.File, writable bool) (*os.File, error) {
	if writable {
		var err error
		if t.info, err = f.Stat(); err != nil {
			return nil, err
		}
	}
	var err error
	if t.own, err = duplicate(f); err != nil || t.own == nil {
		return f, err
	}
	return t.own, nil
}

func (t *mapTie) enter(m *osMapping) {
	if t.info == nil {
		return
	}
	writableMaps.Lock()
	defer writableMaps.Unlock()
	if writableMaps.m == nil {
		writableMaps.m = make(map[*osMapping]os.FileInfo)
	}
	writableMaps.m[m] = t.info
}

// leave waits for a flush that is under way.
func (t *mapTie) leave(m *osMapping) {
	writableMaps.Lock()
	defer writableMaps.Unlock()
	delete(writableMaps.m, m)
}

func (t *mapTie) release() {
	if t.own != nil {
		_ = t.own.Close()
	}
}

// flushMaps hands what was stored into the mappings of f to the file.
func flushMaps(f *os.File) error {
	writableMaps.Lock()
	defer writableMaps.Unlock()
	if len(writableMaps.m) == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for m, of := range writableMaps.m {
		if os.SameFile(info, of) {
			if err := m.m.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sync is File.Sync: F_FULLFSYNC on macOS, FlushFileBuffers on Windows, fsync
// elsewhere.
func (f *osFile) Sync() error {
	if err := flushMaps(f.f); err != nil {
		return Classed(err)
	}
	return Classed(f.f.Sync())
}

// DataSync is Sync: only Linux is trusted to do with less.
func (f *osFile) DataSync() error { return f.Sync() }

func populate([]byte) {}
