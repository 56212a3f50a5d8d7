package exporter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"example.com/ledger/internal/disk"
)

// ErrTarget: there is no place for the file.
var ErrTarget = errors.New("can't be written there")

// File makes a file of what write writes, whole or not at all: it is written
// under another name beside it, synced, and renamed; what had the name is
// replaced then, not before. After an error nothing is left behind, and after a
// crash at most a file whose name begins with path's and ends in .tmp. A path in
// a stream's directory, and one that is no regular file, are ErrTarget.
func File(path string, write func(io.Writer) error) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := fill(f, write); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return disk.OS().SyncDir(filepath.Dir(path))
}

// checkTarget refuses what would be the ruin of something else.
func checkTarget(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no regular file", ErrTarget, path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "stream.json")); err == nil {
		return fmt.Errorf("%w: %s is the directory of a stream", ErrTarget, filepath.Dir(path))
	}
	return nil
}

// fill writes, syncs and closes the file.
func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<20)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
