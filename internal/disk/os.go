package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// OS returns the file system of the host. Interrupted calls are made again;
// errors keep the system's error number, the operation and the path, and a full
// disk, quota or size limit is ErrNoSpace as well. Files have mode 0640 and
// directories 0750, less the umask.
//
// Opening never waits and never changes anything but a regular file: a pipe,
// device, socket or directory is refused. Open follows a link at the end of its
// path; OpenRW and Create, which could change what it points at, refuse it
// (except on Windows).
func OS() FS { return osFS{} }

type osFS struct{}

var errNotRegular = errors.New("not a regular file")

func (osFS) Open(path string) (File, error) {
	return asFile(openRegular(path, os.O_RDONLY))
}

func (osFS) OpenRW(path string) (File, error) {
	return asFile(openRegular(path, os.O_RDWR|openNoFollow))
}

// asFile doesn't make a File of no file.
func asFile(f *osFile, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create doesn't let open empty the file: that is done when it is known to be
// a regular one.
func (osFS) Create(path string) (File, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE|openNoFollow)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil && size > 0 {
		err = Classed(f.f.Truncate(0))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func openRegular(path string, flag int) (*osFile, error) {
	f, err := os.OpenFile(path, flag|openNoWait, 0o640)
	if err != nil {
		return nil, Classed(whyNotOpen(path, flag, err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	var raw syscall.RawConn
	if err == nil {
		raw, err = f.SyscallConn()
	}
	if err != nil {
		_ = f.Close()
		return nil, Classed(err)
	}
	return &osFile{f: f, raw: raw}, nil
}

// whyNotOpen puts plainly what the system says of links and sockets ("too many
// levels of symbolic links", "no such device or address").
func whyNotOpen(path string, flag int, err error) error {
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().IsRegular() {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 && flag&openNoFollow == 0 {
		return err // it is about what the link points at
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: %w", errNotRegular, err)}
}

func (osFS) Mkdir(path string) error { return Classed(os.Mkdir(path, 0o750)) }

func (osFS) Rename(oldpath, newpath string) error { return Classed(os.Rename(oldpath, newpath)) }

func (osFS) Remove(path string) error { return Classed(os.Remove(path)) }

func (osFS) Stat(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, Classed(err)
	}
	return entryOf(info), nil
}

// ReadDir leaves out a name that goes away while it is read.
func (osFS) ReadDir(path string) ([]Entry, error) {
	names, err := os.ReadDir(path)
	if err != nil {
		return nil, Classed(err)
	}
	entries := make([]Entry, 0, len(names))
	for _, d := range names {
		if !d.Type().IsRegular() {
			entries = append(entries, Entry{Name: d.Name(), Dir: d.IsDir()})
			continue
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, Classed(err)
		}
		entries = append(entries, entryOf(info))
	}
	return entries, nil
}

func entryOf(info fs.FileInfo) Entry {
	e := Entry{Name: info.Name(), Regular: info.Mode().IsRegular(), Dir: info.IsDir()}
	if e.Regular {
		e.Size = info.Size()
	}
	return e
}

func (osFS) SyncDir(path string) error { return Classed(syncDir(path)) }

func (osFS) Lock(dir string) (io.Closer, error) {
	c, err := lockDir(dir)
	if err != nil {
		return nil, Classed(err)
	}
	return c, nil
}

func (osFS) Free(path string) (int64, error) {
	n, err := freeBytes(path)
	if err != nil {
		return 0, Classed(&fs.PathError{Op: "statfs", Path: path, Err: err})
	}
	return n, nil
}

// A classedError is an error of the system that is also one of ours.
type classedError struct {
	class error
	err   error
}

func (e *classedError) Error() string   { return fmt.Sprintf("%v: %v", e.class, e.err) }
func (e *classedError) Unwrap() []error { return []error{e.class, e.err} }

// Classed adds ErrNoSpace, or ErrFault, to an error of the system that means it:
// errors.Is finds both. Other implementations of FS use it, too.
func Classed(err error) error {
	if err == nil {
		return nil
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	for _, full := range noSpaceErrnos {
		if errno == full {
			return &classedError{ErrNoSpace, err}
		}
	}
	if errno == syscall.EFAULT {
		// A buffer handed to the system lies in a mapping whose file was cut short.
		return &classedError{ErrFault, err}
	}
	return err
}
