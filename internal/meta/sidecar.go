package meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"example.com/ledger/internal/disk"
)

// Names of the sidecars: files of JSON beside a stream that programs around the
// engine keep, and the engine never reads. It knows their names and their form, so
// that they go where the stream goes.
const (
	DictionaryFile = "dictionary.json" // what numbers in records stand for
	ImportsFile    = "imports.json"    // how far imports have come
)

// SidecarMax bounds a sidecar, in bytes.
const SidecarMax = 1 << 30

// Sidecar tells whether a file beside a stream is one of them, by its name.
func Sidecar(name string) bool { return name == DictionaryFile || name == ImportsFile }

// The checksum of a sidecar is its last member: CRC-32/IEEE, in hex, of all bytes
// before this.
const sidecarMark = ",\n  \"crc\": \""

// EncodeSidecar returns v, which must be a struct with members, as a sidecar.
func EncodeSidecar(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(b, []byte("\n}"))
	if !ok {
		return nil, errors.New("sidecar: no object with members")
	}
	return fmt.Appendf(body, "%s%08x\"\n}\n", sidecarMark, crc32.ChecksumIEEE(body)), nil
}

// DecodeSidecar reads what EncodeSidecar wrote into v.
func DecodeSidecar(b []byte, v any) error {
	at := bytes.LastIndex(b, []byte(sidecarMark))
	if at < 0 {
		return errors.New("no checksum: the file is cut, or none of ours")
	}
	if want := fmt.Sprintf("%s%08x\"\n}\n", sidecarMark, crc32.ChecksumIEEE(b[:at])); string(b[at:]) != want {
		return errors.New("the checksum is another one than the content's")
	}
	return json.Unmarshal(b, v)
}

// ErrForeign: a sidecar is another stream's.
var ErrForeign = errors.New("of another stream")

// CheckSidecar tells whether b is a sidecar, of the stream with that id unless it
// is "". Errors: disk.ErrCorrupt, disk.ErrVersion, ErrForeign. path is for them only.
func CheckSidecar(path string, b []byte, id string) error {
	var head struct {
		Version int    `json:"version"`
		Stream  string `json:"stream"`
	}
	if err := DecodeSidecar(b, &head); err != nil {
		return &disk.CorruptError{Path: path, Offset: -1, Err: err}
	}
	switch {
	case head.Version > version:
		return fmt.Errorf("%w: %s is of version %d", disk.ErrVersion, path, head.Version)
	case head.Version != version:
		return &disk.CorruptError{Path: path, Offset: -1, Err: fmt.Errorf("version %d", head.Version)}
	case id != "" && head.Stream != id:
		return fmt.Errorf("%w: of %s", ErrForeign, head.Stream)
	}
	return nil
}
