package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	openNoWait   = 0
	openNoFollow = 0
)

var noSpaceErrnos = []syscall.Errno{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
	windows.ERROR_FILE_TOO_LARGE,
}

// syncDir has nothing to do: Windows can't sync a directory, and writes the
// names of a file with the file.
func syncDir(string) error { return nil }

func freeBytes(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, 1<<63-1)), nil
}

// willNeed does nothing: the hint has no cheap form here.
func willNeed([]byte, int, int) {}

// duplicate gives a mapping a handle of its own, which it flushes when it is
// unmapped, after f is closed.
func duplicate(f *os.File) (*os.File, error) {
	self := windows.CurrentProcess()
	var h windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &h, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, os.NewSyscallError("DuplicateHandle", err)
	}
	return os.NewFile(uintptr(h), f.Name()), nil
}

// A dirLock is the locked file LOCK of a directory, which can't be locked itself.
// While it is open, it can't be deleted.
type dirLock struct{ f *os.File }

func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, "LOCK")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING:
		err = &fs.PathError{Op: "lock", Path: dir, Err: ErrLocked}
	case err != nil:
		err = &fs.PathError{Op: "lock", Path: path, Err: err}
	default:
		return &dirLock{f}, nil
	}
	_ = f.Close()
	return nil, err
}

// Close ends the lock with the handle.
func (l *dirLock) Close() error { return l.f.Close() }
