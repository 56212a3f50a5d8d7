// Package meta has the bytes of a stream's small files: stream.json, which says
// what the stream is; drops.json, which names the ranges that are gone; and the
// cursors page, through which other processes see how far the writer is.
//
// It works on bytes and opens nothing.
package meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// Names of a stream's files and folders.
const (
	StreamFile = "stream.json"
	DropsFile  = "drops.json"
	CursorFile = "cursors"
	Reserve    = "reserve"
	Quarantine = "quarantine"
)

const version = 1

// A Stream is the content of stream.json.
type Stream struct {
	Version    int              `json:"version"`
	ID         string           `json:"id"` // 32 hex digits
	Schema     *schema.Schema   `json:"schema"`
	Capacity   int              `json:"capacity"`
	Durability string           `json:"durability"`
	Layout     string           `json:"layout"`
	SyncEvery  time.Duration    `json:"sync_every_ns,omitempty"`
	Retention  retention.Policy `json:"retention,omitzero"`
	CreatedAt  time.Time        `json:"created_at"`
}

// The checksum stands last, and is over all bytes but its own eight digits.
const crcKey = "\"crc\": \""

// seal turns a JSON object into the checksummed form.
func seal(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	b = bytes.TrimSuffix(b, []byte("\n}"))
	b = append(b, ",\n  "+crcKey...)
	tail := []byte("\"\n}\n")
	sum := crc32.Update(crc32.ChecksumIEEE(b), crc32.IEEETable, tail)
	b = fmt.Appendf(b, "%08x", sum)
	return append(b, tail...), nil
}

var errSum = errors.New("checksum does not hold")

// check tells whether a file's checksum holds.
func check(b []byte) error {
	i := bytes.LastIndex(b, []byte(crcKey))
	if i < 0 {
		return errors.New("no checksum")
	}
	at := i + len(crcKey)
	if len(b) < at+8 {
		return errors.New("cut short")
	}
	sum := crc32.Update(crc32.ChecksumIEEE(b[:at]), crc32.IEEETable, b[at+8:])
	if fmt.Sprintf("%08x", sum) != string(b[at:at+8]) {
		return errSum
	}
	return nil
}

// open checks b and decodes it into v, whose version must be known. path is
// for errors only.
func open(path string, b []byte, v any) error {
	corrupt := func(err error) error {
		return &disk.CorruptError{Path: path, Offset: -1, Err: err}
	}
	if err := check(b); err != nil {
		return corrupt(err)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return corrupt(err)
	}
	if head.Version > version {
		return fmt.Errorf("%w: %s is of version %d", disk.ErrVersion, path, head.Version)
	}
	if head.Version != version {
		return corrupt(fmt.Errorf("version %d", head.Version))
	}
	if err := json.Unmarshal(b, v); err != nil {
		return corrupt(err)
	}
	return nil
}

// Encode returns the bytes of stream.json.
func (s Stream) Encode() ([]byte, error) {
	s.Version = version
	return seal(s)
}

// DecodeStream reads stream.json. path is for errors only.
func DecodeStream(path string, b []byte) (Stream, error) {
	var s Stream
	if err := open(path, b, &s); err != nil {
		return Stream{}, err
	}
	if _, err := ParseID(s.ID); err != nil || s.Schema == nil || s.Capacity < 1 {
		return Stream{}, &disk.CorruptError{Path: path, Offset: -1, Detail: "a field is missing or out of range", Err: err}
	}
	return s, nil
}
