// Package sim is the model disk: files in memory that remember, for everything
// that isn't synced yet, what a power cut may leave of it. A test runs the
// engine on a Disk's FS, stops it at any operation, and opens again what Kill,
// Cut or AllCuts make of the disk at that instant.
//
// What a cut may leave, each cell independent of all others:
//
//   - of each sector (512 bytes, unless NewSectors says otherwise) any content
//     that it has had since it was last synced, zeros where it was never
//     written before;
//   - of each file's size any size that it has had since it was last synced;
//   - of each name in a directory any file that it has named, or none if there
//     was none, since the directory was last synced. So a rename may show the old
//     file or the new one under the new name, and the file under the old name, or
//     under both or neither; what was removed may come back.
//
// Sync and DataSync of a file settle its sectors and its size, not its name;
// SyncDir settles a directory's names, not what is in the files. After a kill
// everything is there, and what was undecided still is.
//
// A sync that fails (see SetHook and FailWriteback) leaves the pages clean in
// the eyes of the system: they can be read, but they are as undecided as before,
// and no later sync settles them unless they are written again. An error of
// writing back is told once to each description that was open before it.
//
// A writable mapping is the file's own cache: nobody sees a store into it. The
// disk notices stores by comparing, at each operation that changes a name, at
// each sync, at each WriteAt to the same file, and when an image is made or
// Notice is called. A content that was stored and overwritten between two looks
// is not among a sector's versions: call Notice, or use small sectors, where
// that matters. Writing the same bytes again is seen by WriteAt, not by a store.
// The file may not grow while it is mapped: that is a panic. When the last
// mapping of a file ends, its bytes are overwritten, as their use would be a
// fault on a real disk.
//
// Everything may be used by many goroutines at once. The disk looks at mapped
// bytes behind the race detector's back, as a kernel does: stores going on
// meanwhile are no race, and those that happened before a sync are covered.
package sim

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"example.com/ledger/internal/disk"
)

// ErrCrashed is the error of every operation on a disk after Crash. A hook that
// returns it crashes the disk.
var ErrCrashed = errors.New("sim: the machine has crashed")

// SectorSize is the number of bytes that a disk of New keeps or loses together.
const SectorSize = 512

// A Disk is a model disk, or an image of one: that is a disk, too, and can be
// cut again.
type Disk struct {
	sector int
	hook   atomic.Pointer[func(Op) error]
	ops    atomic.Int64

	mu       sync.Mutex
	root     *node
	nodes    int // made so far
	descs    int // made so far
	crashed  bool
	locked   map[*node]bool
	mapped   map[*node]bool // files with mappings
	used     int64          // bytes of all files
	capacity int64
	buf      []byte // one sector, for the holder of mu
}

// New returns an empty disk with sectors of 512 bytes. It has the directory /
// and no other; a relative path counts from there.
func New() *Disk { return NewSectors(SectorSize) }

// NewSectors is New with sectors of another size, at least 1 byte. Small ones
// make tears inside what a real disk would keep whole.
func NewSectors(bytes int) *Disk {
	if bytes < 1 {
		panic("sim: sector of less than a byte")
	}
	d := newDisk(bytes, math.MaxInt64)
	d.root = d.newNode(true)
	return d
}

func newDisk(sector int, capacity int64) *Disk {
	return &Disk{
		sector: sector, capacity: capacity, buf: make([]byte, sector),
		locked: make(map[*node]bool), mapped: make(map[*node]bool),
	}
}

// FS returns the disk's files for the engine.
func (d *Disk) FS() disk.FS { return fsys{d} }

// SetHook makes every operation of the FS and its files call hook first; nil
// ends that. If hook returns an error, the operation fails with it and has no
// effect, but for these:
//
//   - a failed Sync or DataSync leaves what it was to write undecided for good
//     (see the package's comment), and other descriptions of the file, opened
//     before, get the error at their next sync;
//   - ShortWrite and Late say more of what is done before the error;
//   - ErrCrashed crashes the disk.
//
// The hook is called in the operation's goroutine with no lock held: it may
// make images, crash the disk, block, or panic. What it does itself to the disk's
// files calls it again.
func (d *Disk) SetHook(hook func(op Op) error) {
	if hook == nil {
		d.hook.Store(nil)
		return
	}
	d.hook.Store(&hook)
}

// Ops returns the number of operations so far.
func (d *Disk) Ops() int { return int(d.ops.Load()) }

// SetCapacity limits the bytes of all files: a write beyond it is done as far as
// there is room, and fails with ENOSPC. Without it there is no limit.
func (d *Disk) SetCapacity(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = bytes
}

// Crash stops the machine: every operation from now on fails with ErrCrashed
// and changes nothing, and stores into mappings no longer reach the disk. Kill,
// Cut and AllCuts then give what may be left.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crash()
}

func (d *Disk) crash() {
	if d.crashed {
		return
	}
	d.notice()
	d.crashed = true
	for n := range d.mapped {
		n.detach()
	}
	clear(d.mapped)
}

// Notice looks for stores into the mapped files, so that what they hold now
// becomes one of the versions that a cut may leave.
func (d *Disk) Notice() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
}

func (d *Disk) notice() {
	for n := range d.mapped {
		n.notice(d)
	}
}

// FailWriteback lets the system fail to write back what isn't synced of the file
// at path, on its own account: nobody is told until the next sync of each
// description that is open now, or of the next one to be opened if there is none.
func (d *Disk) FailWriteback(path string, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, lookErr := d.lookup(path)
	if lookErr != nil {
		return lookErr
	}
	n.notice(d)
	n.failWriteback(err)
	return nil
}
