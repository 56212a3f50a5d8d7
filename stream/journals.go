package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// readHead reads the beginning of a journal, and its size.
func readHead(fsys disk.FS, path string) (b []byte, size int64, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if size, err = f.Size(); err != nil {
		return nil, 0, err
	}
	b = make([]byte, min(size, journal.FramesAt))
	n, err := f.ReadAt(b, 0)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:n], size, err
}

// readJournals reads the headers of the ring, and the frames of those journals
// that may hold something. Their size is what the file system says, so nothing
// larger than the file is allocated.
func (v *sight) readJournals(fsys disk.FS) (bytes [journal.Ring][]byte, err error) {
	for n := range journal.Ring {
		bytes[n], v.sizes[n], err = readHead(fsys, v.journalPath(n))
		if errors.Is(err, fs.ErrNotExist) {
			v.sizes[n], err = -1, nil
		}
		if err != nil {
			return bytes, err
		}
	}
	need := v.needed(bytes)
	for n := range journal.Ring {
		if !need[n] {
			continue
		}
		b, err := readWhole(fsys, v.journalPath(n), journal.Size(CapacityMax, schema.WidthMax))
		bytes[n], v.sizes[n] = b, int64(len(b))
		if errors.Is(err, fs.ErrNotExist) {
			v.sizes[n], err = -1, nil
		}
		if err != nil {
			return bytes, err
		}
	}
	return bytes, nil
}

func (v *sight) journalPath(n int) string { return filepath.Join(v.info.Dir, journal.Name(n)) }

// needed tells which journals' frames are to be read, by their headers. A file
// without a header is no journal, whatever stands behind it. One whose whole room
// lies in files that are known to be on disk can neither hold anything nor witness
// anything more; but the newest has the producers' window, and the one that ends
// with the last file tells a Commit stream whether a batch goes on behind it.
func (v *sight) needed(heads [journal.Ring][]byte) (need [journal.Ring]bool) {
	var known []journal.Range
	for _, f := range v.files {
		if f.Header().Flags&segment.FlagDurable != 0 {
			known = append(known, journal.Range{From: f.Header().First, To: f.Header().End()})
		}
	}
	sealedRanges := journal.Union(known)
	newest := newestJournal(heads)
	for n, b := range heads {
		h, ok, err := journal.DecodeHeaders(b)
		if !ok || err != nil {
			continue
		}
		c, ok := journal.Capacity(v.sizes[n], int(h.Width))
		end := h.First + uint64(c)
		split := v.info.Durability == Commit && end == v.sealedEnd()
		need[n] = !ok || n == newest || split || !sealedRanges.Covers(h.First, end)
	}
	return need
}

// scan reads the journals' frames. Of those that nothing can be in, the headers
// alone count: so it stays when a file shows up behind the reading.
func (v *sight) scan(bytes [journal.Ring][]byte) error {
	need := v.needed(bytes)
	for n, b := range bytes {
		h, ok, err := journal.DecodeHeaders(b)
		if err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
		if !ok || h.ID != v.info.ID || h.Tag != v.tag || int(h.Width) != v.info.Schema.Width() {
			continue
		}
		if !need[n] {
			b = b[:journal.FramesAt:journal.FramesAt]
		}
		s, err := journal.Read(n, b, h, v.info.Capacity)
		if err != nil {
			return fmt.Errorf("%s: %w", journal.Name(n), err)
		}
		v.scans = append(v.scans, s)
	}
	return nil
}

// newestJournal is the number of the one with the highest generation, or -1.
func newestJournal(bytes [journal.Ring][]byte) int {
	newest, gen := -1, uint64(0)
	for n, b := range bytes {
		if h, ok, err := journal.DecodeHeaders(b); err == nil && ok && h.Generation > gen {
			newest, gen = n, h.Generation
		}
	}
	return newest
}
