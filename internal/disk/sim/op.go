package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"example.com/ledger/internal/disk"
)

// A Kind is what an operation does.
type Kind uint8

// The kinds are the methods of disk.FS, disk.File and disk.Mapping; OpUnlock is
// the closing of a lock.
const (
	OpOpen Kind = 1 + iota
	OpOpenRW
	OpCreate
	OpMkdir
	OpRename
	OpRemove
	OpReadDir
	OpStat
	OpSyncDir
	OpLock
	OpUnlock
	OpFree
	OpRead
	OpWrite
	OpSize
	OpSync
	OpDataSync
	OpMap
	OpUnmap
	OpClose
)

var kindNames = [...]string{
	OpOpen: "open", OpOpenRW: "openrw", OpCreate: "create", OpMkdir: "mkdir", OpRename: "rename",
	OpRemove: "remove", OpReadDir: "readdir", OpStat: "stat", OpSyncDir: "syncdir", OpLock: "lock",
	OpUnlock: "unlock", OpFree: "free", OpRead: "read", OpWrite: "write", OpSize: "size",
	OpSync: "sync", OpDataSync: "datasync", OpMap: "map", OpUnmap: "unmap", OpClose: "close",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Changes reports whether the operation changes what a crash may leave: to crash
// before each such operation is to meet every state of the disk but for stores
// into mappings.
func (k Kind) Changes() bool {
	switch k {
	case OpCreate, OpMkdir, OpRename, OpRemove, OpSyncDir, OpWrite, OpSync, OpDataSync:
		return true
	}
	return false
}

// An Op is one operation that is about to be done.
type Op struct {
	N        int // counts the disk's operations, from 1
	Kind     Kind
	Path     string // as it was given; of a File, as it was opened
	To       string // of a rename: the new name
	Off      int64  // of a read or write
	Len      int    // of a read, write or map: bytes
	Desc     int    // the description's number, from 1; 0 where there is none
	Writable bool   // of a map
}

func (o Op) String() string {
	s := fmt.Sprintf("%d %v %s", o.N, o.Kind, o.Path)
	switch o.Kind {
	case OpRename:
		s += " " + o.To
	case OpRead, OpWrite:
		s += fmt.Sprintf(" [%d, %d)", o.Off, o.Off+int64(o.Len))
	case OpMap:
		s += fmt.Sprintf(" %d writable=%v", o.Len, o.Writable)
	}
	return s
}

// fail makes err the error that the host's file system would return.
func (o Op) fail(err error) error {
	return disk.Classed(&fs.PathError{Op: o.Kind.String(), Path: o.Path, Err: err})
}

// A ShortWrite, returned by a hook, writes the first N bytes and then fails.
type ShortWrite struct {
	N   int
	Err error
}

func (e *ShortWrite) Error() string { return fmt.Sprintf("short write of %d bytes: %v", e.N, e.Err) }

// Unwrap returns the cause.
func (e *ShortWrite) Unwrap() error { return e.Err }

// A Late, returned by a hook, does the operation and then fails all the same. A
// file or lock that it opened stays open for good.
type Late struct{ Err error }

func (e *Late) Error() string { return fmt.Sprintf("done, but: %v", e.Err) }

// Unwrap returns the cause.
func (e *Late) Unwrap() error { return e.Err }

// FailAt returns a hook that fails operation n, and no other, with err.
func FailAt(n int, err error) func(Op) error {
	return func(op Op) error {
		if op.N == n {
			return err
		}
		return nil
	}
}

// FailFrom returns a hook that fails operation n and all after it with err.
func FailFrom(n int, err error) func(Op) error {
	return func(op Op) error {
		if op.N >= n {
			return err
		}
		return nil
	}
}

// do has the hook's verdict on op and then runs it under the disk's lock. run
// gets a verdict that isn't nil, nor Late, only if it is to make something of it.
func (d *Disk) do(op Op, run func() error) error {
	return d.doFailing(op, func(verdict error) error {
		if verdict != nil {
			return verdict
		}
		return run()
	})
}

func (d *Disk) doFailing(op Op, run func(verdict error) error) error {
	op.N = int(d.ops.Add(1))
	var verdict error
	if hook := d.hook.Load(); hook != nil && !d.isCrashed() {
		verdict = (*hook)(op)
	}
	late, isLate := errors.AsType[*Late](verdict)
	if isLate {
		verdict = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(verdict, ErrCrashed) {
		d.crash()
	}
	if d.crashed {
		return op.fail(ErrCrashed)
	}
	if op.Kind.Changes() && op.Kind != OpWrite {
		d.notice() // a write looks at its own file only: there are many
	}
	err := run(verdict)
	if err == nil && isLate {
		err = late.Err
	}
	if err != nil {
		return op.fail(err)
	}
	return nil
}

func (d *Disk) isCrashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.crashed
}

// A Trace records operations, in the order in which they began, for a test that
// asks what came before what. The zero value is ready.
type Trace struct {
	mu  sync.Mutex
	ops []Op
}

// Hook returns a hook that records an operation and then asks next, unless it is nil.
func (t *Trace) Hook(next func(Op) error) func(Op) error {
	return func(op Op) error {
		t.add(op)
		if next == nil {
			return nil
		}
		return next(op)
	}
}

func (t *Trace) add(op Op) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ops = append(t.ops, op)
}

// Ops returns what was recorded so far.
func (t *Trace) Ops() []Op {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Op(nil), t.ops...)
}
