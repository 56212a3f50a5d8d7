package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
)

// A journalFile is one file of the ring, read whole.
type journalFile struct {
	name   string
	n      int
	data   []byte
	header journal.Header
	ok     bool // the header counts and is of this stream
	scan   *journal.Scan
	err    error
}

// readJournals reads the ring: the newest journal first, and no bytes of one
// that was started after the look began. So each holds at least what it held
// when the ones after it were read.
func (v *sight) readJournals(ctx context.Context, fsys disk.FS) error {
	newest := uint64(0)
	for n := range journal.Ring {
		name := journal.Name(n)
		head := readPart(fsys, filepath.Join(v.dir, name), journal.FramesAt)
		h, _, _ := journal.DecodeHeaders(head)
		newest = max(newest, h.Generation)
		v.journals = append(v.journals, &journalFile{name: name, n: n, header: h})
	}
	slices.SortStableFunc(v.journals, func(a, b *journalFile) int {
		return cmp.Compare(b.header.Generation, a.header.Generation)
	})
	for _, j := range v.journals {
		var err error
		if j.data, err = readJournal(ctx, fsys, filepath.Join(v.dir, j.name)); err != nil && !notExist(err) {
			if ctx.Err() != nil || !errors.Is(err, errRead) {
				return err
			}
			j.err = err
		}
		if h, _, _ := journal.DecodeHeaders(j.data); h.Generation > newest {
			// All in it came after what the cursors page said.
			clear(j.data[:journal.FramesAt])
		}
	}
	v.journals = slices.DeleteFunc(v.journals, func(j *journalFile) bool { return j.data == nil && j.err == nil })
	slices.SortFunc(v.journals, func(a, b *journalFile) int { return cmp.Compare(a.n, b.n) })
	return nil
}

// errRead marks an error of reading a file that could be opened.
var errRead = errors.New("read failed")

// readJournal reads a journal from its end to its beginning, so that what is
// read of it is never newer than what stands before it, and its header last: a
// header that isn't what it was means that the frames may be of another life.
func readJournal(ctx context.Context, fsys disk.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > journalMax {
		return nil, fmt.Errorf("%w: %d bytes", errRead, size)
	}
	src := &source{ctx: ctx, r: f, size: size}
	b := make([]byte, size)
	const piece = 64 << 10
	for range journalTries {
		var before, after [journal.FramesAt]byte
		head := min(size, journal.FramesAt)
		if err := src.read(before[:head], 0); err != nil {
			return nil, fmt.Errorf("%w: %w", errRead, err)
		}
		for at := (size - 1) / piece * piece; at >= 0; at -= piece {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := src.read(b[at:min(at+piece, size)], at); err != nil {
				return nil, fmt.Errorf("%w: %w", errRead, err)
			}
		}
		if err := src.read(after[:head], 0); err != nil {
			return nil, fmt.Errorf("%w: %w", errRead, err)
		}
		if before == after {
			return b, nil
		}
	}
	// It is started again and again: what it had is sealed long ago.
	clear(b[:min(size, journal.FramesAt)])
	return b, nil
}

// journalTries is how often a journal is read that is started anew meanwhile.
const journalTries = 16

// scanJournals decodes the journals that are of this stream.
func (v *sight) scanJournals() {
	for _, j := range v.journals {
		if j.err != nil || len(j.data) < journal.FramesAt {
			continue
		}
		h, ok, err := journal.DecodeHeaders(j.data)
		j.header, j.err = h, err
		if !ok || err != nil || !v.known || h.ID != v.id || h.Tag != v.tag || int(h.Width) != v.schema.Width() {
			continue
		}
		j.scan, j.err = journal.Read(j.n, j.data, h, v.stream.Capacity)
		j.ok = j.err == nil
	}
}
