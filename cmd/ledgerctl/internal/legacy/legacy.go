// Package legacy brings the segments of the original engine into a stream.
//
// A legacy segment is a file of rows whose header has no checksum of its own
// (docs/format.md, version 1). One whose count is 0 was being written when its
// process died: its records are counted from the file's size, wherever it
// stands among the files. Losing sight of such a file was the original's roll
// bug.
package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// A Report says what an import did, or would do.
type Report struct {
	Files    int
	Counted  []string // files whose count was 0
	Torn     int64    // bytes behind the last whole record of such files
	Records  uint64   // in the files
	Appended uint64
	There    uint64     // records that the stream had already, the same
	First    stream.Seq // of the files
	Next     stream.Seq // behind their last record
	MinTime  int64
	MaxTime  int64
}

// Import appends the records of legacy segments to the stream in dir, keeping
// their numbers, and makes the stream as o says if there is none. The files may
// be named in any order, or as a directory each; their numbers must follow each
// other without a gap. Records that the stream has already are compared, not
// appended, so that an interrupted import can be run again. With dryRun nothing
// is written.
func Import(ctx context.Context, dir string, paths []string, o stream.Options, dryRun bool) (Report, error) {
	files, r, err := open(paths, o.Schema)
	if err != nil {
		return r, err
	}
	if dryRun {
		return r, nil
	}
	s, err := stream.Open(dir, stream.OpenOptions{Schema: o.Schema})
	if errors.Is(err, stream.ErrNotFound) {
		o.FirstSeq = r.First
		s, err = stream.Create(dir, o)
	}
	if err != nil {
		return r, err
	}
	err = r.append(ctx, s, files)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return r, err
}

// open opens the files in the order of their numbers and checks that these
// follow each other.
func open(paths []string, s *schema.Schema) (files []*segment.File, r Report, err error) {
	paths, err = expand(paths)
	if err != nil {
		return nil, r, err
	}
	for _, p := range paths {
		f, err := segment.OpenLegacy(disk.OS(), p, s)
		if err != nil {
			return nil, r, err
		}
		if err := f.Check(context.Background()); err != nil {
			return nil, r, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *segment.File) int { return cmp.Compare(a.Header().First, b.Header().First) })
	for i, f := range files {
		h := f.Header()
		if i > 0 && h.First != uint64(r.Next) {
			return nil, r, &stream.CorruptError{Path: f.Path(), Offset: 8, Field: "first_seq", From: min(h.First, uint64(r.Next)),
				To: max(h.First, uint64(r.Next)), Detail: fmt.Sprintf("begins at %d, and the file before it ends at %d", h.First, r.Next)}
		}
		r.add(f, i == 0)
	}
	return files, r, nil
}

// expand replaces directories by the segments in them.
func expand(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		e, err := disk.OS().Stat(p)
		if err != nil {
			return nil, err
		}
		if !e.Dir {
			out = append(out, p)
			continue
		}
		entries, err := disk.OS().ReadDir(p)
		if err != nil {
			return nil, err
		}
		n := len(out)
		for _, e := range entries {
			if _, ok := segment.ParseName(e.Name); ok && e.Regular {
				out = append(out, filepath.Join(p, e.Name))
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("no segments in %s", p)
		}
	}
	return out, nil
}

func (r *Report) add(f *segment.File, first bool) {
	h := f.Header()
	if first {
		r.First, r.MinTime, r.MaxTime = stream.Seq(h.First), h.MinTime, h.MaxTime
	}
	r.Files++
	if f.Counted() {
		r.Counted = append(r.Counted, f.Path())
	}
	r.Torn += f.Torn()
	r.Records += h.Count
	r.Next = stream.Seq(h.End())
	r.MinTime, r.MaxTime = min(r.MinTime, h.MinTime), max(r.MaxTime, h.MaxTime)
}

// append appends what the stream doesn't have, segment by segment.
func (r *Report) append(ctx context.Context, s *stream.Stream, files []*segment.File) error {
	next := s.Cursors().Appended
	if r.First > next {
		return fmt.Errorf("the stream ends at %d, and the files begin at %d", next, r.First)
	}
	n, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	step := max(1, min(s.Info().Capacity, 4096))
	for _, f := range files {
		g, err := f.Acquire()
		if err != nil {
			return err
		}
		for at := 0; at < g.Len() && err == nil; at += step {
			if err = ctx.Err(); err == nil {
				err = r.batch(s, n, g, at, min(at+step, g.Len()), next)
			}
		}
		f.Release()
		f.Evict()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path(), err)
		}
	}
	return nil
}

// batch appends records [lo, hi) of a segment, or compares those below next
// with what the stream has.
func (r *Report) batch(s *stream.Stream, n *stream.Snapshot, g segment.Segment, lo, hi int, next stream.Seq) error {
	rows, err := g.Rows(nil, lo, hi)
	if err != nil {
		return err
	}
	s.Schema().ClearPadding(rows)
	w := s.Schema().Width()
	var have []byte
	for ; lo < hi && stream.Seq(g.First())+stream.Seq(lo) < next; lo++ {
		seq := stream.Seq(g.First()) + stream.Seq(lo)
		if have, err = n.Get(have[:0], seq); errors.Is(err, stream.ErrDropped) {
			err = nil
		} else if err == nil && string(have) != string(rows[:w]) {
			err = fmt.Errorf("record %d is another one in the stream", seq)
		}
		if err != nil {
			return err
		}
		r.There++
		rows = rows[w:]
	}
	if lo == hi {
		return nil
	}
	_, k, err := s.AppendAt(stream.Seq(g.First())+stream.Seq(lo), rows)
	r.Appended += uint64(k)
	return err
}
