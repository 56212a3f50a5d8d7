package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// remains tells whether a directory without stream.json has anything of a
// stream. A journal without a header is what an interrupted creation leaves.
func (v *sight) remains() bool {
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); ok && e.Regular || e.Name == meta.DropsFile {
			return true
		}
	}
	return slices.ContainsFunc(v.journals, func(j *journalFile) bool { return j.header.Generation != 0 })
}

// alien tells whether there are files with records, and none is of the stream
// that stream.json names.
func (v *sight) alien(fsys disk.FS) bool {
	others := false
	for _, j := range v.journals {
		if h, ok, err := journal.DecodeHeaders(j.data); ok && err == nil {
			if h.ID == v.id && h.Tag == v.tag {
				return false
			}
			others = true
		}
	}
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); !ok || !e.Regular {
			continue
		}
		h, err := segment.DecodeHeader(readPart(fsys, filepath.Join(v.dir, e.Name), headerSize))
		if err == nil && h.Tag == v.tag {
			return false
		}
		others = others || err == nil && !h.Legacy
	}
	return others
}

// infer finds out what the stream is from its column files: what most of them say.
func (v *sight) infer(fsys disk.FS) error {
	votes := map[[16]byte]int{}
	found := map[[16]byte]segment.Meta{}
	for _, e := range v.entries {
		if _, ok := segment.ParseName(e.Name); !ok || !e.Regular {
			continue
		}
		path := filepath.Join(v.dir, e.Name)
		if h, err := segment.DecodeHeader(readPart(fsys, path, headerSize)); err == nil && !h.Legacy {
			v.tags = append(v.tags, h.Tag)
		}
		_, m, err := segment.OpenSelf(fsys, path)
		switch {
		case err == nil:
			votes[m.ID]++
			found[m.ID] = m
		case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrRows), errors.Is(err, segment.ErrVersion), notExist(err):
		default:
			return err
		}
	}
	best, most := segment.Meta{}, 0
	for id, n := range votes {
		if n > most || n == most && bytes.Compare(id[:], best.ID[:]) < 0 {
			best, most = found[id], n
		}
	}
	if most == 0 {
		v.guess()
		return nil
	}
	m := meta.Stream{ID: meta.FormatID(best.ID), Schema: best.Schema, Capacity: int(best.Capacity),
		Durability: durabilities[modeCommit], Layout: segment.Columns.String()}
	for _, j := range v.journals {
		if h, ok, err := journal.DecodeHeaders(j.data); ok && err == nil && h.ID == best.ID && int(h.Mode) < len(durabilities) {
			m.Durability = durabilities[h.Mode]
		}
	}
	v.know(m)
	return nil
}

// guess takes id and schema from a damaged stream.json if the tag of a file of
// the stream proves them. What no file proves is as in a new stream.
func (v *sight) guess() {
	var m meta.Stream
	if json.Unmarshal(v.streamBytes, &m) != nil || m.Schema == nil {
		return
	}
	id, err := meta.ParseID(m.ID)
	if err != nil {
		return
	}
	tag := m.Schema.Tag(id)
	proven := slices.ContainsFunc(v.tags, func(t uint32) bool { return t == tag })
	out := meta.Stream{ID: m.ID, Schema: m.Schema, Capacity: m.Capacity, Durability: m.Durability, Layout: m.Layout}
	for _, j := range v.journals {
		h, ok, err := journal.DecodeHeaders(j.data)
		if !ok || err != nil || h.ID != id || h.Tag != tag {
			continue
		}
		proven = true
		out.Durability = durabilities[min(int(h.Mode), len(durabilities)-1)]
		if c, ok := journal.Capacity(int64(len(j.data)), int(h.Width)); ok {
			out.Capacity = c
		}
	}
	if _, err := segment.ParseLayout(out.Layout); err != nil {
		out.Layout = segment.Rows.String() // or a column file would have told all
	}
	if !slices.Contains(durabilities, out.Durability) {
		out.Durability = durabilities[modeCommit]
	}
	if proven && out.Capacity >= 1 && out.Capacity <= capacityMax {
		v.know(out)
	}
}
