// Package disk is the only door of the engine to files, directories, syncs and
// mappings. Everything above it works on an FS, so that a test can put a model
// disk in its place, cut the power at any operation and hand back what a real
// disk might have kept.
//
// An FS and its files may be used by any number of goroutines at once, but for
// overlapping writes to the same bytes.
package disk

import "io"

// An FS is a file system. Paths are the host's. The implementation for real
// files is OS; package sim has the model disk. Errors carry the operation and the
// path, and are ErrNoSpace, ErrLocked or ErrFault besides where they mean that.
type FS interface {
	// Open opens an existing regular file for reading. It fails with an error
	// that is fs.ErrNotExist where there is none.
	Open(path string) (File, error)
	// OpenRW opens an existing regular file for reading and writing. Each call
	// makes a file description of its own: the kernel reports a failed write
	// back once to each description that was open before it.
	OpenRW(path string) (File, error)
	// Create makes an empty file with mode 0640, emptying one that is there, for
	// reading and writing.
	Create(path string) (File, error)
	// Mkdir makes a directory with mode 0750; it is fs.ErrExist if there is one.
	Mkdir(path string) error
	// Rename replaces newpath, which may be a file, atomically. It is on disk
	// after SyncDir (of both directories), not before.
	Rename(oldpath, newpath string) error
	// Remove unlinks a file or an empty directory. It never follows a link.
	Remove(path string) error
	// ReadDir lists a directory, sorted by name, links as they are.
	ReadDir(path string) ([]Entry, error)
	// Stat tells about path without following a link at its end.
	Stat(path string) (Entry, error)
	// SyncDir makes the names in the directory durable. Its first error is final.
	SyncDir(path string) error
	// Lock takes the exclusive lock of a directory without waiting: ErrLocked if
	// another holds it, in this process or another. Closing frees it, and so does
	// the death of the process.
	Lock(dir string) (io.Closer, error)
	// Free returns the bytes that may still be written to the file system of
	// path, a directory. A quota may leave less.
	Free(path string) (int64, error)
}

// A File is one open file description.
type File interface {
	io.ReaderAt
	// WriteAt writes all of p at off, or returns an error and how much it wrote.
	io.WriterAt
	// Size returns the file's size in bytes.
	Size() (int64, error)
	// Sync makes data and all metadata of the file durable (fsync). Its first
	// error is final: no later success may be believed.
	Sync() error
	// DataSync makes data, and what is needed to read it back, durable
	// (fdatasync). Stores through a Mapping of the same file are covered.
	DataSync() error
	// Map maps the first n bytes of the file, n ≥ 1 and at most its size. The
	// mapping outlives the File. A writable one needs a File opened for writing.
	Map(n int, writable bool) (Mapping, error)
	// Close closes the description, even if it returns an error. It doesn't sync.
	Close() error
}

// A Mapping is a file's bytes in memory. Touching bytes beyond the end of a file
// that was cut short by others faults: see Guard.
type Mapping interface {
	// Bytes returns the mapped bytes. They fault after Unmap.
	Bytes() []byte
	// WillNeed asks the system to read bytes [off, off+n) ahead. It is a hint.
	WillNeed(off, n int)
	// Populate gets the pages of a writable mapping ready for stores, and changes
	// none of their bytes: it may run beside stores, but not beside Unmap. It is a
	// hint, too: where the system can't, the first store to each page takes longer.
	Populate()
	// Unmap ends the mapping. It may be called once, when nobody uses Bytes.
	Unmap() error
}

// An Entry is one name of a directory.
type Entry struct {
	Name    string
	Size    int64 // bytes; 0 for anything but a regular file
	Regular bool  // a regular file, and not a link to one
	Dir     bool
}
