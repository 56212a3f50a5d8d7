package disk

import (
	"errors"
	"io"
	"time"
)

// How long TakeTurn waits, and how often it looks: nobody tells when a lock is
// free.
const (
	turnPatience = 10 * time.Second
	turnPollMin  = 50 * time.Microsecond
	turnPollMax  = 5 * time.Millisecond
)

// TakeTurn takes the lock of a directory that everybody holds for a moment only,
// in whatever process: to read a file and write it back, say. It waits for the
// others, and gives up with ErrLocked after ten seconds.
func TakeTurn(fsys FS, dir string) (io.Closer, error) {
	began := time.Now()
	for wait := turnPollMin; ; wait = min(2*wait, turnPollMax) {
		l, err := fsys.Lock(dir)
		if !errors.Is(err, ErrLocked) || time.Since(began) > turnPatience {
			return l, err
		}
		time.Sleep(wait)
	}
}
