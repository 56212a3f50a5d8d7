// Package frozen is a directory in memory that nobody can write, for tests: they
// change its bytes, look at it with what only reads, and see it fail if it writes.
package frozen

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ledger/internal/disk"
)

// Root is the path of the directory.
const Root = "s"

// A Dir is the files of the directory Root by name, those of folders by
// "folder/name". As a disk.FS it may be used by any number of goroutines while
// nobody changes it.
type Dir map[string][]byte

// ErrWrite is the error of everything that would change something.
var ErrWrite = errors.New("frozen: what only reads has written")

// Clone returns a copy whose bytes can be changed without changing d's.
func (d Dir) Clone() Dir {
	c := maps.Clone(d)
	for name, b := range c {
		c[name] = slices.Clone(b)
	}
	return c
}

// Size returns the bytes of all files.
func (d Dir) Size() (n int) {
	for _, b := range d {
		n += len(b)
	}
	return n
}

// Names are sorted, so that a seed means the same each time.
func (d Dir) Names() []string { return slices.Sorted(maps.Keys(d)) }

// name is what d calls the file or folder of a path; "." is Root.
func name(op, p string) (string, error) {
	p = filepath.ToSlash(p)
	if p == Root {
		return ".", nil
	}
	if n, inside := strings.CutPrefix(p, Root+"/"); inside {
		return n, nil
	}
	return "", &fs.PathError{Op: op, Path: p, Err: fs.ErrNotExist}
}

// Open is for disk.FS.
func (d Dir) Open(p string) (disk.File, error) {
	n, err := name("open", p)
	if err != nil {
		return nil, err
	}
	b, ok := d[n]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return file(b), nil
}

// ReadDir is for disk.FS.
func (d Dir) ReadDir(p string) ([]disk.Entry, error) {
	in, err := name("open", p)
	if err != nil {
		return nil, err
	}
	entries := map[string]disk.Entry{}
	for n, b := range d {
		if folder := path.Dir(n); folder == in {
			entries[path.Base(n)] = disk.Entry{Name: path.Base(n), Size: int64(len(b)), Regular: true}
		} else if path.Dir(folder) == in {
			entries[path.Base(folder)] = disk.Entry{Name: path.Base(folder), Dir: true}
		}
	}
	if len(entries) == 0 && in != "." {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return slices.SortedFunc(maps.Values(entries), func(a, b disk.Entry) int { return strings.Compare(a.Name, b.Name) }), nil
}

// Stat is for disk.FS.
func (d Dir) Stat(p string) (disk.Entry, error) {
	n, err := name("stat", p)
	if err != nil {
		return disk.Entry{}, err
	}
	if b, ok := d[n]; ok {
		return disk.Entry{Name: path.Base(n), Size: int64(len(b)), Regular: true}, nil
	}
	for other := range d {
		if n == "." || strings.HasPrefix(other, n+"/") {
			return disk.Entry{Name: filepath.Base(p), Dir: true}, nil
		}
	}
	return disk.Entry{}, &fs.PathError{Op: "stat", Path: p, Err: fs.ErrNotExist}
}

// OpenRW fails, as everything does that could write.
func (d Dir) OpenRW(string) (disk.File, error) { return nil, ErrWrite }

// Create fails.
func (d Dir) Create(string) (disk.File, error) { return nil, ErrWrite }

// Mkdir fails.
func (d Dir) Mkdir(string) error { return ErrWrite }

// Rename fails.
func (d Dir) Rename(string, string) error { return ErrWrite }

// Remove fails.
func (d Dir) Remove(string) error { return ErrWrite }

// SyncDir fails.
func (d Dir) SyncDir(string) error { return ErrWrite }

// Lock fails.
func (d Dir) Lock(string) (io.Closer, error) { return nil, ErrWrite }

// Free fails.
func (d Dir) Free(string) (int64, error) { return 0, ErrWrite }

type file []byte

func (f file) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(f)) {
		return 0, io.EOF
	}
	n := copy(b, f[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f file) Size() (int64, error)               { return int64(len(f)), nil }
func (f file) Close() error                       { return nil }
func (f file) WriteAt([]byte, int64) (int, error) { return 0, ErrWrite }
func (f file) Sync() error                        { return ErrWrite }
func (f file) DataSync() error                    { return ErrWrite }

func (f file) Map(n int, writable bool) (disk.Mapping, error) {
	if writable || n < 1 || n > len(f) {
		return nil, ErrWrite
	}
	return mapping(slices.Clone(f[:n])), nil
}

type mapping []byte

func (m mapping) Bytes() []byte     { return m }
func (m mapping) WillNeed(int, int) {}
func (m mapping) Populate()         {}
func (m mapping) Unmap() error      { return nil }
