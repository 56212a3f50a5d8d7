package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// Remove deletes a stream: its files and sidecars, what is in quarantine, and the directory,
// if nothing else is in it. It takes the writer's lock, follows no links, and
// leaves files that are not the stream's alone. stream.json goes first, so that
// what an interrupted removal leaves is no stream. Errors: ErrNotFound, ErrLocked.
func Remove(dir string) error { return RemoveOn(disk.OS(), dir) }

// RemoveOn is Remove on another disk, for the tests of this module.
func RemoveOn(fsys disk.FS, dir string) error {
	if _, err := fsys.Stat(filepath.Join(dir, meta.StreamFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: no stream in %s", ErrNotFound, dir)
		}
		return fmt.Errorf("ledger: remove: %w", err)
	}
	lock, err := fsys.Lock(dir)
	if err != nil {
		return fmt.Errorf("ledger: remove %s: %w", dir, err)
	}
	defer lock.Close()
	if err := remove(fsys, dir); err != nil {
		return fmt.Errorf("ledger: remove %s: %w", dir, err)
	}
	return nil
}

func remove(fsys disk.FS, dir string) error {
	if err := fsys.Remove(filepath.Join(dir, meta.StreamFile)); err != nil {
		return err
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	others, err := removeFiles(fsys, dir, ours)
	if err != nil {
		return err
	}
	for _, folder := range []string{meta.Quarantine, meta.Consumers} {
		gone, err := removeFolder(fsys, filepath.Join(dir, folder))
		if err != nil {
			return err
		}
		if gone {
			others--
		}
	}
	if err := fsys.SyncDir(dir); err != nil || others > 0 {
		return err
	}
	if err := fsys.Remove(dir); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(filepath.Clean(dir)))
}

// removeFolder removes a folder of the stream's with the files in it. It tells
// whether the folder was there and is gone.
func removeFolder(fsys disk.FS, dir string) (gone bool, err error) {
	if e, err := fsys.Stat(dir); err != nil || !e.Dir {
		return false, nil
	}
	left, err := removeFiles(fsys, dir, func(string) bool { return true })
	if err != nil || left > 0 {
		return false, err
	}
	return true, fsys.Remove(dir)
}

// removeFiles unlinks the regular files of a directory that pick chooses, and
// returns how many names are left.
func removeFiles(fsys disk.FS, dir string, pick func(name string) bool) (left int, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.Regular || !pick(e.Name) {
			left++
			continue
		}
		if err := fsys.Remove(filepath.Join(dir, e.Name)); err != nil {
			return left, err
		}
	}
	return left, nil
}

// ours tells whether name is one that a stream gives to its files.
func ours(name string) bool {
	_, isSegment := segment.ParseName(name)
	_, isJournal := journal.ParseName(name)
	return isSegment || isJournal || ownTmp(name) ||
		name == meta.StreamFile || name == meta.DropsFile || name == meta.CursorFile || name == meta.Reserve || meta.Sidecar(name)
}
