package sim

import (
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"path/filepath"
	"strings"

	"example.com/ledger/internal/disk"
)

var seed = maphash.MakeSeed()

// Sum returns a hash of all names and contents as they can be read now: equal
// for equal images, in one process. A test that makes many images can pass over
// those that it has seen.
func (d *Disk) Sum() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
	var h maphash.Hash
	h.SetSeed(seed)
	d.root.walk("", func(path string, n *node) {
		fmt.Fprintf(&h, "%q %v %d ", path, n.dir, len(n.data))
		h.Write(n.content())
	})
	return h.Sum64()
}

// String lists the disk: each name, its size, CRC-32 and undecided cells.
func (d *Disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
	var b strings.Builder
	d.root.walk("", func(path string, n *node) {
		if n.dir {
			fmt.Fprintf(&b, "%s/\n", path)
			return
		}
		fmt.Fprintf(&b, "%s %d bytes crc %08x, %d sectors and %d sizes undecided\n",
			path, len(n.data), crc32.ChecksumIEEE(n.content()), len(n.dirty), len(n.sizes))
	})
	return b.String()
}

func (n *node) walk(path string, visit func(path string, n *node)) {
	visit(path, n)
	for _, e := range n.names {
		if e.now != nil {
			e.now.walk(path+"/"+e.name, visit)
		}
	}
}

// Copy copies the regular files and directories in the directory from of src to
// the directory to of dst, which it makes if need be, without syncing: to look
// at an image with the tools of the host, or to begin a test with real files.
func Copy(dst disk.FS, to string, src disk.FS, from string) error {
	entries, err := src.ReadDir(from)
	if err != nil {
		return err
	}
	if e, err := dst.Stat(to); err != nil || !e.Dir {
		if err := dst.Mkdir(to); err != nil {
			return err
		}
	}
	for _, e := range entries {
		a, b := filepath.Join(from, e.Name), filepath.Join(to, e.Name)
		switch {
		case e.Dir:
			err = Copy(dst, b, src, a)
		case e.Regular:
			err = copyFile(dst, b, src, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(dst disk.FS, to string, src disk.FS, from string) error {
	r, err := src.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	size, err := r.Size()
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if size > 0 {
		if _, err := r.ReadAt(b, 0); err != nil {
			return err
		}
	}
	w, err := dst.Create(to)
	if err != nil {
		return err
	}
	if _, err := w.WriteAt(b, 0); err != nil {
		_ = w.Close()
		return err
	}
	return w.Close()
}
