// Package sidecar keeps small files of JSON beside a stream: what ledgerctl
// knows of it and the engine does not need. Each is checksummed, and replaced
// in one step, so that whoever looks sees the old content or the new one.
//
// Whoever writes holds the stream's lock; reading needs none.
package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/stream"
)

// sizeMax bounds what is read, in bytes.
const sizeMax = 1 << 30

// The checksum is the last member: CRC-32/IEEE, in hex, of all bytes before it.
const crcMark = ",\n  \"crc\": \""

// Encode returns v, which must be a struct with members, as a file's content.
func Encode(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(b, []byte("\n}"))
	if !ok {
		return nil, errors.New("sidecar: no object with members")
	}
	return fmt.Appendf(body, "%s%08x\"\n}\n", crcMark, crc32.ChecksumIEEE(body)), nil
}

// Decode reads what Encode wrote into v.
func Decode(b []byte, v any) error {
	at := bytes.LastIndex(b, []byte(crcMark))
	if at < 0 {
		return errors.New("no checksum: the file is cut, or none of ours")
	}
	if want := fmt.Sprintf("%s%08x\"\n}\n", crcMark, crc32.ChecksumIEEE(b[:at])); string(b[at:]) != want {
		return errors.New("the checksum is another one than the content's")
	}
	return json.Unmarshal(b, v)
}

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
	if err == nil && n > sizeMax {
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

// A Held is the content of a file as it was when Hold read it.
type Held struct {
	name    string
	content []byte // nil: there was none
}

// Hold reads the file name of the stream in dir, to Put it beside a copy of the
// stream.
func Hold(dir, name string) (Held, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return Held{name, b}, err
}

// Put writes the file into dir as Write does, if there was one.
func (h Held) Put(dir string) error {
	if h.content == nil {
		return nil
	}
	return replace(filepath.Join(dir, h.name), h.content)
}

// Remove deletes files of a stream that is gone, and its directory, if nothing
// else is in it. Files that aren't there are no error.
func Remove(dir string, names ...string) error {
	fsys := disk.OS()
	for _, name := range names {
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) > 0 {
		return err
	}
	if err := fsys.Remove(dir); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(filepath.Clean(dir)))
}

// Write replaces the file name of the stream in dir. It is on disk when Write
// returns nil; after an error the old content is there, or the new one.
func Write(dir, name string, v any) error {
	b, err := Encode(v)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, name), b)
}

func replace(path string, b []byte) error {
	fsys, tmp := disk.OS(), path+".tmp"
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, path)
	}
	if err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}
