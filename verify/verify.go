// Package verify proves a stream right, or says exactly what is wrong with it,
// and repairs what can be repaired.
//
// Stream and Inspect are an offline doctor: they read the bytes of the files
// without the engine, beside a live writer too, and change nothing. Repair plans
// what would make a damaged stream whole, and does it if told to; it deletes
// nothing. docs/format.md has every byte that is looked at.
//
// All functions may be called at the same time from any number of goroutines.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"example.com/ledger/internal/disk"
)

// Kinds of problems.
const (
	KindMissing  = "missing"  // a file that must be there is not
	KindMetadata = "metadata" // stream.json, drops.json, a sidecar or a consumer doesn't check out
	KindVersion  = "version"  // a later release wrote the file: it is intact
	KindSize     = "size"     // a file is too short or too long
	KindRead     = "read"     // the disk can't read the file
	KindHeader   = "header"   // of a segment or a journal
	KindFooter   = "footer"   // of a column file
	KindColumn   = "column"   // a column's bytes are not what the footer says
	KindRecords  = "records"  // a row file's records are not what the header says
	KindPadding  = "padding"  // bytes between columns are not zero
	KindName     = "name"     // a segment's name is not its first number
	KindForeign  = "foreign"  // a file of another stream, or of another schema
	KindOverlap  = "overlap"  // numbers that are there twice, or there and in drops.json
	KindGap      = "gap"      // numbers that are nowhere, and that drops.json doesn't explain
	KindLost     = "lost"     // as a gap, and it is proven that they were durable
	KindHole     = "hole"     // a journal's frame can't be read, and good ones stand behind it
	KindCursors  = "cursors"  // the cursors page has other bytes than a writer puts there
)

// A Problem is one thing that is wrong.
type Problem struct {
	File    string `json:"file"`            // its name in the stream's directory; "" where none can be named
	Kind    string `json:"kind"`            // one of the Kind constants
	Offset  int64  `json:"offset"`          // in the file, bytes; -1 where no place can be named
	FromSeq uint64 `json:"from_seq,string"` // records that are affected: [FromSeq, ToSeq);
	ToSeq   uint64 `json:"to_seq,string"`   // equal where that is none, or not known
	Detail  string `json:"detail"`
}

// String is the problem on one line.
func (p Problem) String() string {
	s := p.Kind
	if p.File != "" {
		s = p.File + ": " + s
	}
	if p.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", p.Offset)
	}
	if p.ToSeq > p.FromSeq {
		s += fmt.Sprintf(": records [%d, %d)", p.FromSeq, p.ToSeq)
	}
	return s + ": " + p.Detail
}

// A Note is something worth knowing that is no problem: a foreign file, the
// leftover of an interrupted replacement, a retired segment that came back.
type Note struct {
	File   string `json:"file"`
	Detail string `json:"detail"`
}

// A Report is what Stream found.
type Report struct {
	Dir      string    `json:"dir"`
	OK       bool      `json:"ok"` // no problems
	Problems []Problem `json:"problems"`
	Notes    []Note    `json:"notes,omitempty"`
	Segments int       `json:"segments"`       // sealed files of the stream
	Journals int       `json:"journals"`       // files of the ring
	Records  uint64    `json:"records,string"` // in sealed files and in journals
	Bytes    int64     `json:"bytes"`          // of all of the stream's files
}

// ErrNotFound: there is no stream in the directory. It is stream.ErrNotFound.
var ErrNotFound = disk.ErrNotFound

// Stream checks everything in a stream's directory: metadata, headers, footers,
// columns, padding, numbers, gaps, journals. What recovery may find after a
// crash and mends by itself, such as a torn tail, is no problem; what it would
// refuse is. All problems are reported, and none of them is an error: an error
// is ErrNotFound, ctx's, or of a file that can't be opened.
//
// It runs beside a live writer, whose files change meanwhile: problems are
// looked at a second time, and only those that are still there are reported. It
// holds no lock and changes nothing.
func Stream(ctx context.Context, dir string) (*Report, error) {
	return StreamOn(ctx, disk.OS(), dir, nil)
}

// StreamProgress is Stream, and calls progress as it goes: done of total bytes
// of sealed files were checked. Total may change.
func StreamProgress(ctx context.Context, dir string, progress func(done, total int64)) (*Report, error) {
	return StreamOn(ctx, disk.OS(), dir, progress)
}

// StreamOn is StreamProgress on any file system. progress may be nil.
func StreamOn(ctx context.Context, fsys disk.FS, dir string, progress func(done, total int64)) (*Report, error) {
	d, err := examine(ctx, fsys, dir, progress)
	if err != nil {
		return nil, fmt.Errorf("ledger: verify %s: %w", dir, err)
	}
	return d.report, nil
}

// examine looks at a stream, and again if it found problems.
func examine(ctx context.Context, fsys disk.FS, dir string, progress func(done, total int64)) (*verdict, error) {
	first, err := look(ctx, fsys, dir, nil, progress)
	if err != nil {
		return nil, err
	}
	d := first.judge()
	if d.report.OK {
		return d, nil
	}
	second, err := look(ctx, fsys, dir, first, progress)
	if err != nil {
		return nil, err
	}
	again := second.judge()
	again.report.Problems = slices.DeleteFunc(again.report.Problems, func(p Problem) bool {
		return !slices.ContainsFunc(d.report.Problems, func(q Problem) bool { return same(p, q) })
	})
	again.report.OK = len(again.report.Problems) == 0
	return again, nil
}

// same tells whether two looks found the same problem. A range may grow while a
// writer goes on; where it begins is what tells it from one that has passed.
func same(p, q Problem) bool {
	return p.File == q.File && p.Kind == q.Kind && p.Offset == q.Offset && p.FromSeq == q.FromSeq
}

// sortProblems puts problems in the order of files and offsets.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.FromSeq, b.FromSeq))
	})
}

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
