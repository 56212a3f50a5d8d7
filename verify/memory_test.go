package verify_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ledger/internal/disk"
)

// A memory is a directory "s" in memory that can't be written: tests change its
// bytes and look again.
type memory map[string][]byte

// load reads a directory's files, those of its folders not included.
func load(dir string) memory {
	m := memory{}
	for name, b := range tree(dir) {
		if filepath.Base(name) == name {
			m[name] = []byte(b)
		}
	}
	return m
}

// clone is a copy whose bytes can be changed without changing m's.
func (m memory) clone() memory {
	c := maps.Clone(m)
	for name, b := range c {
		c[name] = slices.Clone(b)
	}
	return c
}

// save writes the files to a directory.
func (m memory) save(dir string) string {
	for name, b := range m {
		write(filepath.Join(dir, name), b)
	}
	return dir
}

var errWrite = errors.New("verify wrote to a file")

func (m memory) Open(path string) (disk.File, error) {
	name, inside := strings.CutPrefix(filepath.ToSlash(path), "s/")
	b, ok := m[name]
	if !ok || !inside {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return memoryFile(b), nil
}

func (m memory) ReadDir(path string) ([]disk.Entry, error) {
	var out []disk.Entry
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, disk.Entry{Name: name, Size: int64(len(m[name])), Regular: true})
	}
	return out, nil
}

func (m memory) Stat(path string) (disk.Entry, error) {
	b, ok := m[filepath.Base(path)]
	if !ok {
		return disk.Entry{}, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return disk.Entry{Name: filepath.Base(path), Size: int64(len(b)), Regular: true}, nil
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

func (f memoryFile) Size() (int64, error)                { return int64(len(f)), nil }
func (f memoryFile) Close() error                        { return nil }
func (f memoryFile) WriteAt([]byte, int64) (int, error)  { return 0, errWrite }
func (f memoryFile) Sync() error                         { return errWrite }
func (f memoryFile) DataSync() error                     { return errWrite }
func (f memoryFile) Map(int, bool) (disk.Mapping, error) { return nil, errWrite }
