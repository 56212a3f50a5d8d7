package stream

import (
	"errors"
	"io/fs"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// reserveSize is how much a stream keeps back, bytes. A clean close needs no
// space, but dropping segments does, to name them in drops.json first: without
// a reserve a disk that is full could not be emptied.
const reserveSize = 64 << 10

// keepReserve makes the reserve if it is not there. A disk on which it doesn't
// fit does without.
func keepReserve(fsys disk.FS, dir string) {
	path := filepath.Join(dir, meta.Reserve)
	if _, err := fsys.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	_ = disk.Make(fsys, path, false, disk.Zeros(reserveSize))
}

// saveDrops is writeDrops, with the reserve given up for it on a full disk.
func saveDrops(fsys disk.FS, dir string, d meta.Drops) (late, err error) {
	late, err = writeDrops(fsys, dir, d)
	if !errors.Is(err, ErrNoSpace) {
		return late, err
	}
	if rerr := fsys.Remove(filepath.Join(dir, meta.Reserve)); rerr != nil {
		return nil, err
	}
	// What was removed is free for certain when the directory is synced.
	if late := fsys.SyncDir(dir); late != nil {
		return late, nil
	}
	return writeDrops(fsys, dir, d)
}
