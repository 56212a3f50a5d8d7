package disk

import (
	"errors"
	"os"
	"syscall"
)

// An osFile is a file description of the host.
type osFile struct {
	f   *os.File
	raw syscall.RawConn
}

func (f *osFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(p, off)
	return n, Classed(err)
}

func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(p, off)
	return n, Classed(err)
}

func (f *osFile) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, Classed(err)
	}
	return info.Size(), nil
}

// Close may be interrupted; the descriptor is gone then, too.
func (f *osFile) Close() error {
	err := f.f.Close()
	if errors.Is(err, syscall.EINTR) {
		return nil
	}
	return Classed(err)
}
