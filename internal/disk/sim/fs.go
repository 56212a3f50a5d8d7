package sim

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.com/ledger/internal/disk"
)

type fsys struct{ d *Disk }

// parts returns the names on the way from the root to path.
func parts(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	path = strings.Trim(filepath.ToSlash(filepath.Clean("/"+path)), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func (d *Disk) lookup(path string) (*node, error) { return d.walk(parts(path)) }

func (d *Disk) walk(names []string) (*node, error) {
	n := d.root
	for _, s := range names {
		if !n.dir {
			return nil, syscall.ENOTDIR
		}
		if n = n.child(s); n == nil {
			return nil, syscall.ENOENT
		}
	}
	return n, nil
}

func (d *Disk) lookupDir(path string) (*node, error) {
	n, err := d.lookup(path)
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	return n, err
}

// parent returns the directory that path's last name is in, that name, and what
// it names now, or nil.
func (d *Disk) parent(path string) (dir *node, last string, now *node, err error) {
	names := parts(path)
	if len(names) == 0 {
		return nil, "", nil, syscall.EBUSY
	}
	last = names[len(names)-1]
	if dir, err = d.walk(names[:len(names)-1]); err != nil {
		return nil, "", nil, err
	}
	if !dir.dir {
		return nil, "", nil, syscall.ENOTDIR
	}
	return dir, last, dir.child(last), nil
}

func (s fsys) Open(path string) (disk.File, error)   { return s.open(OpOpen, path) }
func (s fsys) OpenRW(path string) (disk.File, error) { return s.open(OpOpenRW, path) }
func (s fsys) Create(path string) (disk.File, error) { return s.open(OpCreate, path) }

func (s fsys) open(kind Kind, path string) (disk.File, error) {
	f := &file{d: s.d, path: path, writable: kind != OpOpen}
	err := s.d.do(Op{Kind: kind, Path: path}, func() (err error) {
		if kind == OpCreate {
			f.n, err = s.d.create(path)
		} else {
			f.n, err = s.d.lookup(path)
		}
		if err == nil && f.n.dir {
			err = syscall.EISDIR
		}
		if err != nil {
			return err
		}
		s.d.descs++
		f.id = s.d.descs
		f.n.opens++
		f.errors = f.n.errors
		if f.errors > 0 && !f.n.reported {
			f.errors--
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d *Disk) create(path string) (*node, error) {
	dir, last, n, err := d.parent(path)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		n = d.newNode(false)
		d.set(dir, last, n)
	case !n.dir:
		n.truncate(d)
	}
	return n, nil
}

func (s fsys) Mkdir(path string) error {
	return s.d.do(Op{Kind: OpMkdir, Path: path}, func() error {
		if len(parts(path)) == 0 {
			return syscall.EEXIST
		}
		dir, last, n, err := s.d.parent(path)
		if err != nil {
			return err
		}
		if n != nil {
			return syscall.EEXIST
		}
		s.d.set(dir, last, s.d.newNode(true))
		return nil
	})
}

func (s fsys) Rename(oldpath, newpath string) error {
	return s.d.do(Op{Kind: OpRename, Path: oldpath, To: newpath}, func() error {
		from, oldName, n, err := s.d.parent(oldpath)
		if err != nil {
			return err
		}
		to, newName, was, err := s.d.parent(newpath)
		switch {
		case err != nil:
			return err
		case n == nil:
			return syscall.ENOENT
		case was != nil && was.dir:
			return syscall.EEXIST
		case was == n:
			return nil
		case n.dir && was != nil:
			return syscall.ENOTDIR
		case n.dir && slices.Equal(parts(oldpath), parts(newpath)[:min(len(parts(oldpath)), len(parts(newpath)))]):
			return syscall.EINVAL // into itself
		}
		s.d.set(to, newName, n)
		s.d.set(from, oldName, nil)
		return nil
	})
}

func (s fsys) Remove(path string) error {
	return s.d.do(Op{Kind: OpRemove, Path: path}, func() error {
		dir, last, n, err := s.d.parent(path)
		switch {
		case err != nil:
			return err
		case n == nil:
			return syscall.ENOENT
		case n.dir && !n.isEmpty():
			return syscall.ENOTEMPTY
		}
		s.d.set(dir, last, nil)
		return nil
	})
}

func (s fsys) ReadDir(path string) (entries []disk.Entry, err error) {
	err = s.d.do(Op{Kind: OpReadDir, Path: path}, func() error {
		n, err := s.d.lookupDir(path)
		if err != nil {
			return err
		}
		for _, e := range n.names {
			if e.now != nil {
				entries = append(entries, e.now.entry(e.name))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func (n *node) entry(name string) disk.Entry {
	return disk.Entry{Name: name, Size: int64(len(n.data)), Regular: !n.dir, Dir: n.dir}
}

func (s fsys) Stat(path string) (e disk.Entry, err error) {
	err = s.d.do(Op{Kind: OpStat, Path: path}, func() error {
		n, err := s.d.lookup(path)
		if err == nil {
			e = n.entry(filepath.Base(path))
		}
		return err
	})
	return e, err
}

func (s fsys) SyncDir(path string) error {
	return s.d.do(Op{Kind: OpSyncDir, Path: path}, func() error {
		n, err := s.d.lookupDir(path)
		if err == nil {
			n.settleNames()
		}
		return err
	})
}

func (s fsys) Free(path string) (free int64, err error) {
	err = s.d.do(Op{Kind: OpFree, Path: path}, func() error {
		_, err := s.d.lookup(path)
		if err == nil {
			free = max(0, s.d.capacity-s.d.used)
		}
		return err
	})
	return free, err
}

func (s fsys) Lock(dir string) (io.Closer, error) {
	l := &lock{d: s.d, path: dir}
	err := s.d.do(Op{Kind: OpLock, Path: dir}, func() (err error) {
		if l.n, err = s.d.lookupDir(dir); err != nil {
			return err
		}
		if s.d.locked[l.n] {
			return disk.ErrLocked
		}
		s.d.locked[l.n] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

type lock struct {
	d    *Disk
	n    *node // nil when closed
	path string
}

func (l *lock) Close() error {
	return l.d.doFailing(Op{Kind: OpUnlock, Path: l.path}, func(verdict error) error {
		if l.n == nil {
			return os.ErrClosed
		}
		delete(l.d.locked, l.n)
		l.n = nil
		return verdict
	})
}
