package disk

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrCorrupt: bytes that were whole have changed, or records that were
	// acknowledged are gone. Nothing legitimate does it; nothing repairs it silently.
	ErrCorrupt = errors.New("ledger: corrupt")
	// ErrVersion: a later release wrote this file. It is intact; it is not touched.
	ErrVersion = errors.New("ledger: version not known to this release")
	// ErrNotFound: there is no stream, or no such record yet.
	ErrNotFound = errors.New("ledger: not found")
	// ErrLocked: another writer has the directory open.
	ErrLocked = errors.New("ledger: locked by another writer")
	// ErrNoSpace: the disk, a quota or a limit on sizes is full. It can be
	// retried once there is room.
	ErrNoSpace = errors.New("ledger: no space")
	// ErrFault: mapped bytes could not be read: the file was cut short by
	// others, or the disk failed under it.
	ErrFault = errors.New("ledger: mapped file could not be read")
)

// A CorruptError says where damage is. errors.Is finds ErrCorrupt in it, and
// the cause where there is one.
type CorruptError struct {
	Path   string // of the file; "" where a file is missing
	Offset int64  // in the file, bytes; -1 where no place can be named
	Field  string // as named in docs/format.md; "" where none
	From   uint64 // sequence numbers affected: [From, To); equal where unknown
	To     uint64
	Detail string
	Err    error // the cause, or nil
}

func (e *CorruptError) Error() string {
	var b strings.Builder
	b.WriteString("ledger: corrupt")
	if e.Path != "" {
		fmt.Fprintf(&b, ": %s", e.Path)
	}
	if e.Offset >= 0 && e.Path != "" {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": %s", e.Field)
	}
	if e.To > e.From {
		fmt.Fprintf(&b, ": records [%d, %d)", e.From, e.To)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap lets errors.Is find ErrCorrupt and the cause.
func (e *CorruptError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}
