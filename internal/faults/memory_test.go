package faults

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
)

// A memory is a directory "s" in memory that can't be written: tests change its
// bytes, and look again with verify and with the engine's reader.
type memory map[string][]byte

// clone is a copy whose bytes can be changed without changing m's.
func (m memory) clone() memory {
	c := maps.Clone(m)
	for name, b := range c {
		c[name] = slices.Clone(b)
	}
	return c
}

// size is the bytes of all files.
func (m memory) size() (n int) {
	for _, b := range m {
		n += len(b)
	}
	return n
}

// names are sorted, so that a seed means the same each time.
func (m memory) names() []string { return slices.Sorted(maps.Keys(m)) }

var errWrite = errors.New("faults: what only reads has written")

func (m memory) find(op, path string) ([]byte, error) {
	b, ok := m[filepath.Base(path)]
	if !ok || filepath.Dir(path) != "s" {
		return nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
	}
	return b, nil
}

func (m memory) Open(path string) (disk.File, error) {
	b, err := m.find("open", path)
	if err != nil {
		return nil, err
	}
	return memoryFile(b), nil
}

func (m memory) ReadDir(path string) (out []disk.Entry, err error) {
	if path != "s" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	for _, name := range m.names() {
		out = append(out, disk.Entry{Name: name, Size: int64(len(m[name])), Regular: true})
	}
	return out, nil
}

func (m memory) Stat(path string) (disk.Entry, error) {
	b, err := m.find("stat", path)
	return disk.Entry{Name: filepath.Base(path), Size: int64(len(b)), Regular: true}, err
}

func (m memory) OpenRW(string) (disk.File, error)     { return nil, errWrite }
func (m memory) Create(string) (disk.File, error)     { return nil, errWrite }
func (m memory) Mkdir(string) error                   { return errWrite }
func (m memory) Rename(string, string) error          { return errWrite }
func (m memory) Remove(string) error                  { return errWrite }
func (m memory) SyncDir(string) error                 { return errWrite }
func (m memory) Lock(string) (c io.Closer, err error) { return nil, errWrite }
func (m memory) Free(string) (int64, error)           { return 0, errWrite }

type memoryFile []byte

func (f memoryFile) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(f)) {
		return 0, io.EOF
	}
	n := copy(b, f[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f memoryFile) Size() (int64, error)               { return int64(len(f)), nil }
func (f memoryFile) Close() error                       { return nil }
func (f memoryFile) WriteAt([]byte, int64) (int, error) { return 0, errWrite }
func (f memoryFile) Sync() error                        { return errWrite }
func (f memoryFile) DataSync() error                    { return errWrite }

func (f memoryFile) Map(n int, writable bool) (disk.Mapping, error) {
	if writable || n < 1 || n > len(f) {
		return nil, errWrite
	}
	return memoryMapping(slices.Clone(f[:n])), nil
}

type memoryMapping []byte

func (m memoryMapping) Bytes() []byte     { return m }
func (m memoryMapping) WillNeed(int, int) {}
func (m memoryMapping) Populate()         {}
func (m memoryMapping) Unmap() error      { return nil }
