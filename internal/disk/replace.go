package disk

import "path/filepath"

// Make makes the file path of what fill writes, emptying one that is there. With
// sync its bytes are on disk when Make returns nil; its name is not before a
// SyncDir. After an error the file is removed, as far as that can be done, so
// that another try doesn't write to a file whose sync failed.
func Make(fsys FS, path string, sync bool, fill func(File) error) error {
	f, err := fsys.Create(path)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = fsys.Remove(path) // the first error counts
	}
	return err
}

// Replace makes the file path of what fill writes, in one step: whoever looks sees
// the old file or the new one, also after a crash. It writes to path with ".tmp"
// behind it first. late is the error of the directory's sync, which is final; after
// err nothing has changed.
func Replace(fsys FS, path string, fill func(File) error) (late, err error) {
	tmp := path + ".tmp"
	if err := Make(fsys, tmp, true, fill); err != nil {
		return nil, err
	}
	if err := fsys.Rename(tmp, path); err != nil {
		_ = fsys.Remove(tmp)
		return nil, err
	}
	return fsys.SyncDir(filepath.Dir(path)), nil
}

// Content is a fill for Make and Replace: the bytes b.
func Content(b []byte) func(File) error {
	return func(f File) error {
		if len(b) == 0 {
			return nil
		}
		_, err := f.WriteAt(b, 0)
		return err
	}
}

// Zeros is a fill for Make and Replace: size zero bytes, as of WriteZeros.
func Zeros(size int64) func(File) error {
	return func(f File) error { return WriteZeros(f, size) }
}
