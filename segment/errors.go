package segment

import (
	"errors"
	"fmt"

	"example.com/ledger/internal/disk"
)

var (
	// ErrCorrupt: bytes of a sealed file have changed. It is disk.ErrCorrupt.
	ErrCorrupt = disk.ErrCorrupt
	// ErrVersion: a newer release wrote the file. It is disk.ErrVersion.
	ErrVersion = disk.ErrVersion
	// ErrShort: the file is shorter than its header, or than what its header
	// says. A power cut can do it to a file that was not synced. The error is a
	// *CorruptError, too.
	ErrShort = errors.New("segment: file too short")
	// ErrKind: a column was asked for as another type than its kind.
	ErrKind = errors.New("segment: wrong type for the column")
	// ErrField: no column has the name.
	ErrField = errors.New("segment: no such column")
	// ErrRows: a row file doesn't say what its fields are.
	ErrRows = errors.New("segment: a row file does not describe itself")
	// ErrRecords: what Encode was given is not a run of whole records with
	// dense numbers.
	ErrRecords = errors.New("segment: not a run of records")
)

// A CorruptError says where damage is: path, offset and field, and the sequence
// numbers affected where they are known. It is disk.CorruptError.
type CorruptError = disk.CorruptError

// corrupt makes an error without a path: see in.
func corrupt(off int64, field, format string, args ...any) *CorruptError {
	return &CorruptError{Offset: off, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// short is the error of a file of got bytes that has to have want.
func short(got, want int64) *CorruptError {
	e := corrupt(got, "size", "%d bytes, want %d", got, want)
	e.Err = ErrShort
	return e
}

// in puts the path into an error of this package, and the records affected.
func in(path string, from, to uint64, err error) error {
	if e, ok := err.(*CorruptError); ok {
		e.Path, e.From, e.To = path, from, to
		return e
	}
	return fmt.Errorf("%s: %w", path, err)
}
