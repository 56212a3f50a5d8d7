package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// On Linux a mapping needs nothing but its pages: fdatasync of any description
// writes back what was stored into any mapping of the file.
type mapTie struct{}

func (mapTie) hold(f *os.File, _ bool) (*os.File, error) { return f, nil }
func (mapTie) enter(*osMapping)                          {}
func (mapTie) leave(*osMapping)                          {}
func (mapTie) release()                                  {}

// populate makes the pages writable now rather than in the first store to each:
// since Linux 5.14, see madvise(2).
func populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }
