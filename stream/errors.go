package stream

import (
	"errors"
	"fmt"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
)

// What can go wrong, for errors.Is. CorruptError, DroppedError and
// schema.RangeError say where.
var (
	// ErrCorrupt: bytes that were whole have changed, or acknowledged records are gone.
	ErrCorrupt = disk.ErrCorrupt
	// ErrVersion: a later release wrote the file; it was not touched.
	ErrVersion = disk.ErrVersion
	// ErrLocked: another writer has the stream open, in this process or another.
	ErrLocked = disk.ErrLocked
	// ErrNoSpace: the disk, a quota or a limit is full. Nothing of the batch was
	// appended; the same append works once there is room.
	ErrNoSpace = disk.ErrNoSpace
	// ErrFault: a mapped file could not be read: it was cut short by others, or
	// the disk failed.
	ErrFault = disk.ErrFault
	// ErrRange: a value that does not fit its field, or a sequence number or
	// time that is out of range.
	ErrRange = schema.ErrRange
	// ErrPoisoned: a write to a journal or a sync failed. What is on disk is not
	// known, so nothing more is appended until the stream is opened again.
	// Reading goes on.
	ErrPoisoned = errors.New("ledger: stream is poisoned by a failed write or sync; open it again")
	// ErrClosed: the stream, reader or snapshot has been closed.
	ErrClosed = errors.New("ledger: closed")
	// ErrSeqMismatch: AppendAt was given another number than the next one.
	ErrSeqMismatch = errors.New("ledger: not the next sequence number")
	// ErrBatchSize: a batch is not a whole number of records.
	ErrBatchSize = errors.New("ledger: batch is not a whole number of records")
	// ErrBatchTooLarge: a batch has more than twice the capacity of a segment.
	ErrBatchTooLarge = errors.New("ledger: batch too large")
	// ErrDropped: records that retention, a loss or a repair has taken.
	ErrDropped = errors.New("ledger: dropped")
	// ErrBusy: an append would have had to wait for the disk, and was told not to.
	ErrBusy = errors.New("ledger: busy: segments are waiting to be sealed")
	// ErrNotDurable: nothing will make these records durable: the stream is Os
	// and has no SyncEvery. Call Sync.
	ErrNotDurable = errors.New("ledger: nothing makes this stream's records durable but Sync")
	// ErrExists: there is a stream already.
	ErrExists = errors.New("ledger: stream exists")
	// ErrNotFound: there is no stream, or no such record yet.
	ErrNotFound = disk.ErrNotFound
	// ErrName: a stream's name that is empty, or could leave its root.
	ErrName = errors.New("ledger: not a stream name")
	// ErrOption: options that are out of range or contradict the stream's own.
	ErrOption = errors.New("ledger: bad option")
)

// A CorruptError says where damage is: file, offset, field, sequence numbers.
type CorruptError = disk.CorruptError

// A DroppedError names records that are gone. errors.Is finds ErrDropped in it.
type DroppedError struct {
	From, To Seq    // the numbers [From, To)
	Reason   string // as drops.json gives it
}

// Error names the range and the reason.
func (e *DroppedError) Error() string {
	return fmt.Sprintf("ledger: records [%d, %d) are gone: %s", e.From, e.To, e.Reason)
}

// Unwrap lets errors.Is find ErrDropped.
func (e *DroppedError) Unwrap() error { return ErrDropped }
