// Package sidecar keeps small files of JSON beside a stream: what ledgerctl
// knows of it and the engine does not need. Each is checksummed, and replaced
// in one step, so that whoever looks sees the old content or the new one.
//
// Whoever writes holds the stream's lock; reading needs none.
package sidecar

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
	"example.com/ledger/stream"
)

// Encode returns v, which must be a struct with members, as a file's content.
func Encode(v any) ([]byte, error) { return meta.EncodeSidecar(v) }

// Decode reads what Encode wrote into v.
func Decode(b []byte, v any) error { return meta.DecodeSidecar(b, v) }

// Read reads the file name of the stream in dir into v, and tells whether it is
// there. Damage is stream.ErrCorrupt.
func Read(dir, name string, v any) (ok bool, err error) {
	path := filepath.Join(dir, name)
	f, err := disk.OS().Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	n, err := f.Size()
	if err == nil && n > meta.SidecarMax {
		err = fmt.Errorf("%d bytes are too many", n)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if err := Decode(b, v); err != nil {
		return false, &stream.CorruptError{Path: path, Offset: -1, Err: err}
	}
	return true, nil
}

// Write replaces the file name of the stream in dir. It is on disk when Write
// returns nil; after an error the old content is there, or the new one.
func Write(dir, name string, v any) error {
	b, err := Encode(v)
	if err != nil {
		return err
	}
	late, err := disk.Replace(disk.OS(), filepath.Join(dir, name), disk.Content(b))
	return errors.Join(late, err)
}
