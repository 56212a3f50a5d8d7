package disk

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Guard runs f and turns a memory fault in it, such as the touching of a mapped
// page that its file no longer has or that the disk can't read, into an error
// that is ErrFault and names the address. It holds for f's own goroutine, not
// for goroutines that f starts. Any other panic goes on its way.
//
// After a fault whatever f was doing stands half done: f must hold no lock that
// isn't released by a defer.
func Guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	done := false
	defer func() {
		debug.SetPanicOnFault(old)
		if done {
			return
		}
		switch r := recover().(type) {
		case nil: // runtime.Goexit
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = fmt.Errorf("%w: at address %#x", ErrFault, r.Addr())
		default:
			panic(r)
		}
	}()
	err = f()
	done = true
	return err
}
