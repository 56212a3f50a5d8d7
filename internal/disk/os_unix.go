//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	openNoWait   = unix.O_NONBLOCK // a pipe's open doesn't wait for its other end
	openNoFollow = unix.O_NOFOLLOW
)

var noSpaceErrnos = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// uninterrupted calls f again as long as a signal cuts it short.
func uninterrupted(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// openDir opens a directory; anything else is ENOTDIR.
func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|openNoWait, 0)
}

func syncDir(path string) error {
	d, err := openDir(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close() // nothing was written through it
	return err
}

func freeBytes(path string) (n int64, err error) {
	err = uninterrupted(func() (err error) {
		n, err = statfsFree(path)
		return err
	})
	return n, err
}

// willNeed reads the pages of b that hold [off, off+n) ahead.
func willNeed(b []byte, off, n int) {
	start := off &^ (os.Getpagesize() - 1)
	_ = unix.Madvise(b[start:off+n], unix.MADV_WILLNEED) // a hint: b is as good without it
}

// A dirLock is a description of a directory that holds its flock.
type dirLock struct{ d *os.File }

// lockDir locks the directory itself: a lock that no deleted file can free, and
// that is the same one through every link to the directory.
func lockDir(dir string) (*dirLock, error) {
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	// Fd is safe here: nobody else has d, so that it can't be closed meanwhile.
	err = uninterrupted(func() error {
		return unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	})
	switch {
	case err == unix.EWOULDBLOCK:
		err = &fs.PathError{Op: "lock", Path: dir, Err: ErrLocked}
	case err != nil:
		err = &fs.PathError{Op: "flock", Path: dir, Err: err}
	default:
		return &dirLock{d}, nil
	}
	_ = d.Close()
	return nil, err
}

// Close frees the lock itself, and not only its descriptor: a process that is
// being forked has a copy of that until it executes another program.
func (l *dirLock) Close() error {
	_ = uninterrupted(func() error { return unix.Flock(int(l.d.Fd()), unix.LOCK_UN) }) // closing frees it, too
	return l.d.Close()
}
