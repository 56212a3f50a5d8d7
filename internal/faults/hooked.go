package faults

import (
	"io"

	"example.com/ledger/internal/disk"
)

// Hooked returns fsys with a hook that is called before and after every
// operation that changes something, syncs, locks or maps. Stores into a mapping
// pass it by.
func Hooked(fsys disk.FS, hook func(op, path string)) disk.FS { return &hookedFS{fsys, hook} }

type hookedFS struct {
	disk.FS
	hook func(op, path string)
}

func (h *hookedFS) around(op, path string) func() {
	h.hook(op, path)
	return func() { h.hook(op+" done", path) }
}

func (h *hookedFS) OpenRW(path string) (disk.File, error) {
	defer h.around("open", path)()
	f, err := h.FS.OpenRW(path)
	return h.file(f, path), err
}

func (h *hookedFS) Create(path string) (disk.File, error) {
	defer h.around("create", path)()
	f, err := h.FS.Create(path)
	return h.file(f, path), err
}

func (h *hookedFS) file(f disk.File, path string) disk.File {
	if f == nil {
		return nil
	}
	return &hookedFile{f, h, path}
}

func (h *hookedFS) Mkdir(path string) error {
	defer h.around("mkdir", path)()
	return h.FS.Mkdir(path)
}

func (h *hookedFS) Rename(oldpath, newpath string) error {
	defer h.around("rename", newpath)()
	return h.FS.Rename(oldpath, newpath)
}

func (h *hookedFS) Remove(path string) error {
	defer h.around("remove", path)()
	return h.FS.Remove(path)
}

func (h *hookedFS) SyncDir(path string) error {
	defer h.around("syncdir", path)()
	return h.FS.SyncDir(path)
}

func (h *hookedFS) Lock(path string) (io.Closer, error) {
	defer h.around("lock", path)()
	return h.FS.Lock(path)
}

type hookedFile struct {
	disk.File
	fs   *hookedFS
	path string
}

func (f *hookedFile) WriteAt(p []byte, off int64) (int, error) {
	defer f.fs.around("write", f.path)()
	return f.File.WriteAt(p, off)
}

func (f *hookedFile) Sync() error {
	defer f.fs.around("sync", f.path)()
	return f.File.Sync()
}

func (f *hookedFile) DataSync() error {
	defer f.fs.around("datasync", f.path)()
	return f.File.DataSync()
}

func (f *hookedFile) Map(n int, writable bool) (disk.Mapping, error) {
	defer f.fs.around("map", f.path)()
	return f.File.Map(n, writable)
}
