package verify

import (
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// needless tells whether a journal that reaches from its header's first record
// to end is void or free (docs/format.md, "Recovery"): a newer one starts at or
// below it, or all that it has is covered.
func needless(h journal.Header, end uint64, others []journal.Header, covered journal.Ranges) bool {
	for _, o := range others {
		if o.Generation > h.Generation && o.First <= h.First {
			return true
		}
	}
	if end == h.First {
		return covered.Has(end)
	}
	return covered.Covers(h.First, end)
}

// neighbours finds out what the files beside a journal say about it. What can't
// be read says nothing.
func neighbours(fsys disk.FS, path string, data []byte) facts {
	h, ok, err := journal.DecodeHeaders(data)
	if !ok || err != nil {
		return facts{}
	}
	scan, err := journal.Read(0, data, h, roomFor(data, h, 0))
	if err != nil {
		return facts{}
	}
	self, named := journal.ParseName(filepath.Base(path))
	if !named {
		return facts{}
	}
	dir := filepath.Dir(path)
	var f facts
	var others []journal.Header
	for n := range journal.Ring {
		b := readPart(fsys, filepath.Join(dir, journal.Name(n)), journal.FramesAt)
		if o, ok, err := journal.DecodeHeaders(b); n != self && ok && err == nil && o.ID == h.ID {
			others = append(others, o)
		}
	}
	page := readPart(fsys, filepath.Join(dir, meta.CursorFile), meta.CursorSize)
	if c, ok, err := meta.DecodeCursors(page); ok && err == nil && c.ID == h.ID {
		f.witness = c.Durable
	}
	f.covered = coveredNear(fsys, dir, h, max(scan.End, scan.BehindEnd(), scan.Durable))
	f.needless = needless(h, scan.End, others, f.covered)
	return f
}

// coveredNear returns the numbers around [h.First, end) that sealed files or
// drops.json cover.
func coveredNear(fsys disk.FS, dir string, h journal.Header, end uint64) journal.Ranges {
	var rs []journal.Range
	if d, err := meta.DecodeDrops("", readPart(fsys, filepath.Join(dir, meta.DropsFile), smallMax)); err == nil {
		for _, r := range d.Ranges {
			rs = append(rs, journal.Range{From: r.From, To: r.To})
		}
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return journal.Union(rs)
	}
	for _, e := range slices.Backward(entries) { // by name, and so by number
		first, ok := segment.ParseName(e.Name)
		if !ok || first > end {
			continue
		}
		b := readPart(fsys, filepath.Join(dir, e.Name), segment.HeaderSize)
		if s, err := segment.DecodeHeader(b); err == nil && s.Tag == h.Tag && s.First == first {
			rs = append(rs, journal.Range{From: s.First, To: s.End()})
		}
		if first <= h.First {
			break
		}
	}
	return journal.Union(rs)
}

// readPart returns the first n bytes of a file, fewer if it is shorter, and none
// if it can't be read.
func readPart(fsys disk.FS, path string, n int64) []byte {
	f, err := fsys.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil
	}
	b := make([]byte, min(n, size))
	if got, _ := f.ReadAt(b, 0); got < len(b) {
		return nil
	}
	return b
}
