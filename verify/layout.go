package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// A Class says what a changed bit in a range would do.
type Class string

const (
	// Data is records, and Meta what says where and what they are: Stream finds
	// any changed bit of either. Excepted is what nothing else proves: the last
	// frame of the journal of a stream that was neither closed nor, since that
	// frame, synced, which looks torn when it is changed; and, in a file of the
	// original engine, records without a CRC (their Check is None) and a count
	// that becomes 0, which means that the file's size says it.
	Data Class = "data"
	// Meta is what Data is read by.
	Meta Class = "meta"
	// Free is bytes whose change can't change any record, and that are not
	// checked: a journal behind its last frame, a journal whose records are
	// sealed, a second header where the first one counts.
	Free Class = "free"
)

// A Check is what looking at a range found.
type Check string

const (
	// OK: the check was made, and holds.
	OK Check = "ok"
	// Bad: the check was made, and fails.
	Bad  Check = "bad"
	None Check = "-" // nothing proves these bytes, or what would prove them is bad
)

// A Range is a run of bytes of a file with one meaning.
type Range struct {
	Offset  int64  `json:"offset"`  // of its first byte in the file
	Length  int64  `json:"length"`  // bytes; 0 where bytes are missing
	Meaning string `json:"meaning"` // as named in docs/format.md
	Value   string `json:"value"`   // what the bytes say, where that is short; or ""
	Class   Class  `json:"class"`
	Check   Check  `json:"check"`
	Detail  string `json:"detail,omitempty"` // what is wrong; "" unless Check is Bad

	kind     string // of the problem, where Check is Bad
	from, to uint64 // records it is about, where known
}

// A Layout is a file, byte by byte: its ranges follow each other without gap or
// overlap and end where the file ends.
type Layout struct {
	File   string  `json:"file"` // its path
	Kind   string  `json:"kind"` // one of the File constants
	Size   int64   `json:"size"` // bytes
	Ranges []Range `json:"ranges"`
}

// OK reports whether no check of the file failed.
func (l *Layout) OK() bool {
	for _, r := range l.Ranges {
		if r.Check == Bad {
			return false
		}
	}
	return true
}

// Kinds of files that Inspect knows.
const (
	FileSegment = "segment"
	FileJournal = "journal"
	FileStream  = "stream"
	FileDrops   = "drops"
	FileCursors = "cursors"
	FileReserve = "reserve"

	FileConsumer   = "consumer"   // a named consumer's position
	FileDictionary = "dictionary" // what numbers in records stand for
	FileImports    = "imports"    // how far imports have come
)

// ErrUnknown: a file is of none of the kinds that a stream is made of.
var ErrUnknown = errors.New("ledger: not a file of a stream")

// Inspect returns every byte range of one file of a stream: a segment, one of
// the original engine included, a journal, stream.json, drops.json, the cursors
// page, a consumer's file or a sidecar. What it is, its name says, or else its
// first bytes. All
// checks that need no other file are done; a journal's neighbours, where it has
// them, are asked only whether its records are needed any more. Damage is in the
// ranges and not an error: that is a file that can't be read, or ErrUnknown. It
// changes nothing.
func Inspect(path string) (*Layout, error) {
	return InspectOn(disk.OS(), path)
}

// InspectOn is Inspect on any file system.
func InspectOn(fsys disk.FS, path string) (*Layout, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	l := &Layout{File: path, Size: size}
	if l.Kind, err = kindOf(f, path); err != nil {
		return nil, err
	}
	src := &source{ctx: context.Background(), r: f, size: size}
	switch l.Kind {
	case FileSegment:
		w := &segmentWalk{src: src, name: baseName(path)}
		err = w.run()
		l.Ranges = w.ranges
	case FileReserve:
		l.Ranges = []Range{{Length: size, Meaning: "space kept back for a full disk", Class: Free, Check: None}}
	case FileJournal:
		var b []byte
		if b, err = src.all(journalMax); err == nil {
			l.Ranges = describeJournal(b, neighbours(fsys, path, b), 0, false)
		}
	case FileConsumer, FileDictionary, FileImports:
		var b []byte
		if b, err = src.all(meta.SidecarMax); err == nil {
			l.Ranges = describeBeside(l.Kind, path, b)
		}
	default:
		var b []byte
		if b, err = src.all(smallMax); err == nil {
			l.Ranges = describeSmall(l.Kind, b)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// kindOf tells what a file is by its name, or else by its first bytes.
func kindOf(r io.ReaderAt, path string) (string, error) {
	base := baseName(path)
	if _, ok := segment.ParseName(base); ok {
		return FileSegment, nil
	}
	if _, ok := journal.ParseName(base); ok {
		return FileJournal, nil
	}
	switch base {
	case meta.StreamFile:
		return FileStream, nil
	case meta.DropsFile:
		return FileDrops, nil
	case meta.Reserve:
		return FileReserve, nil
	case meta.CursorFile:
		return FileCursors, nil
	}
	if kind := besideKind(path); kind != "" {
		return kind, nil
	}
	var b [512]byte
	n, err := r.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head := string(b[:n])
	switch {
	case strings.HasPrefix(head, "OXLS"):
		return FileSegment, nil
	case strings.HasPrefix(head, "OXLJ"):
		return FileJournal, nil
	case strings.HasPrefix(head, "OXLC"):
		return FileCursors, nil
	case strings.HasPrefix(head, "{") && strings.Contains(head, `"ranges"`):
		return FileDrops, nil
	case strings.HasPrefix(head, "{") && strings.Contains(head, `"schema"`):
		return FileStream, nil
	case strings.HasPrefix(head, "{") && besideKindOf(head) != "":
		return besideKindOf(head), nil
	}
	return "", fmt.Errorf("%s: %w", path, ErrUnknown)
}

// baseName is the last element of a path, without what marks an unfinished one.
func baseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".tmp")
}

// A source reads a file in pieces, and gives up when its context ends.
type source struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
	buf  []byte
}

// Sizes, in bytes, up to which files are read at once.
const (
	smallMax   = 64 << 20
	journalMax = 1 << 32
)

var errShrunk = errors.New("the file became shorter while it was read")

// each calls f with the bytes [off, off+n) in pieces whose length, but for the
// last one, is a multiple of 8.
func (s *source) each(off, n int64, f func(b []byte)) error {
	if s.buf == nil {
		s.buf = make([]byte, min(1<<20, (max(s.size, 64)+7)&^7))
	}
	for n > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		b := s.buf[:min(n, int64(len(s.buf)))]
		if err := s.read(b, off); err != nil {
			return err
		}
		f(b)
		off += int64(len(b))
		n -= int64(len(b))
	}
	return nil
}

// read fills b.
func (s *source) read(b []byte, off int64) error {
	n, err := s.r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return errShrunk
	}
	return err
}

// all returns the whole file, if it has at most limit bytes.
func (s *source) all(limit int64) ([]byte, error) {
	if s.size > limit || s.size > math.MaxInt {
		return nil, fmt.Errorf("%d bytes are too many: %w", s.size, fs.ErrInvalid)
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	b := make([]byte, s.size)
	return b, s.read(b, 0)
}
