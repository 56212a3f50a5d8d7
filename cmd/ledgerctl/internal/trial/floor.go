package trial

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"time"

	"example.com/ledger/internal/disk"
)

// block is what a sync is measured with, bytes: no journal writes less.
const block = 4096

// file makes a file of zeros that is on disk, as a journal is when it is used.
func file(dir, name string, size int) (disk.File, error) {
	f, err := disk.OS().Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, 1<<20)
	for at := 0; at < size && err == nil; at += len(zeros) {
		_, err = f.WriteAt(zeros, int64(at))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// syncFloor is how many blocks a second are written and synced, one after another.
func syncFloor(ctx context.Context, dir string, d time.Duration) (float64, error) {
	const size = 4 << 20
	f, err := file(dir, "sync", size)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, block)
	at := int64(0)
	c, err := repeat(ctx, d, func() error {
		b[0]++
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
		at = (at + block) % size
		return f.DataSync()
	})
	return c.perSecond(), err
}

// writeFloor is how many bytes a second go to the page cache, n at a time.
func writeFloor(ctx context.Context, dir string, d time.Duration, n int) (float64, error) {
	f, err := file(dir, "write", writeMax)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, n)
	at := int64(0)
	c, err := repeat(ctx, d, func() error {
		_, err := f.WriteAt(b, at)
		if at += int64(n); at+int64(n) > writeMax {
			at = 0
		}
		return err
	})
	return c.perSecond() * float64(n), err
}

// memoryFloor is how many bytes a second are read from memory that holds what is
// scanned: a search for a byte that isn't there, by the machine's widest loads.
func memoryFloor(ctx context.Context, d time.Duration) (float64, error) {
	b := bytes.Repeat([]byte{1}, 4*scanRecords)
	c, err := repeat(ctx, d, func() error {
		if bytes.IndexByte(b, 0) >= 0 {
			return errors.New("memory holds what nobody wrote")
		}
		return nil
	})
	return c.perSecond() * float64(len(b)), err
}
