package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// A planner finds out what would make a stream whole.
type planner struct {
	*verdict
	do   *plan
	ctx  context.Context
	have journal.Ranges // in files that stay or will be written, or in drops.json
	seen []journal.Sealed
	took map[string]bool // files that are to be set aside
	made map[string]bool // files that are to be written or named: what they replace is copied then
	used uint64          // numbers below it were given to records once, as names of damaged files say
}

// A keeper is where records of a file that doesn't stay can be had from.
type keeper struct {
	name       string
	first, end uint64
	rows       func(from, to uint64) ([]byte, error)
	header     segment.Header
	sound      bool // the file is right as it is
}

// planRepair makes the plan. Nothing is changed.
func (d *verdict) planRepair(ctx context.Context, fsys disk.FS) (*plan, error) {
	for _, p := range d.report.Problems {
		if p.Kind == KindVersion {
			return nil, fmt.Errorf("%s: %w", p.File, disk.ErrVersion)
		}
	}
	r := &planner{verdict: d, ctx: ctx, took: map[string]bool{}, made: map[string]bool{},
		do: &plan{fsys: fsys, dir: d.dir, now: time.Now().UTC()}}
	if d.streamErr != nil {
		if err := r.streamFile(); err != nil {
			return nil, err
		}
	}
	if !d.known {
		r.do.leave = append(r.do.leave, Action{Op: OpLeave, File: meta.StreamFile,
			Detail: "no column file and no good part of it says what the stream's records are"})
		return r.do, nil
	}
	keepers, err := r.files()
	if err != nil {
		return nil, err
	}
	r.restore(keepers)
	if err := r.journalsAndLosses(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(d.report.Problems, func(p Problem) bool { return p.File == meta.CursorFile }) {
		r.aside(meta.CursorFile, 0, 0, "not a cursors page of this stream; the next writer makes one")
	}
	r.sidecars()
	r.consumerFiles()
	return r.do, nil
}

// What is lost with a sidecar.
var without = map[string]string{
	meta.DictionaryFile: "records keep their numbers, and nothing says what they stand for: put a copy back if there is one",
	meta.ImportsFile:    "a file that is imported again is appended again, from its beginning",
}

// sidecars plans to set aside those that are damaged or another stream's.
func (r *planner) sidecars() {
	for _, p := range r.report.Problems {
		if meta.Sidecar(p.File) {
			r.aside(p.File, 0, 0, without[p.File])
		}
	}
}

// aside plans to move a file to quarantine, once, and unless it is replaced.
func (r *planner) aside(name string, from, to uint64, detail string) {
	if !r.took[name] && !r.made[name] {
		r.took[name] = true
		r.do.away = append(r.do.away, move{Action: Action{Op: OpQuarantine, File: name, FromSeq: from, ToSeq: to, Detail: detail}})
	}
}

// streamFile plans to write stream.json anew.
func (r *planner) streamFile() error {
	if !r.known {
		return nil
	}
	m := r.stream
	m.CreatedAt = r.do.now
	rows := 0
	for _, f := range r.segments {
		if f.err == nil && f.walk.headOK && f.walk.header.Tag == r.tag {
			if at := time.UnixMilli(f.walk.header.SealedAt).UTC(); at.Before(m.CreatedAt) {
				m.CreatedAt = at
			}
			if f.walk.header.Layout() == segment.Rows {
				rows++
			}
		}
	}
	if rows > len(r.segments)/2 {
		m.Layout = segment.Rows.String()
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	r.do.metadata = append(r.do.metadata, rewrite{at: -1, data: b, Action: Action{Op: OpRebuild, File: meta.StreamFile,
		Detail: fmt.Sprintf("%s, capacity %d, %s, %s, no retention: look at it, and alter what isn't so", m.Schema, m.Capacity, m.Durability, m.Layout)}})
	return nil
}

// files decides which sealed files stay, which are set aside, and what records
// those still prove.
func (r *planner) files() ([]keeper, error) {
	var keepers []keeper
	for _, f := range r.segments {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		k, err := r.decide(f)
		if err != nil {
			return nil, err
		}
		if k != nil {
			keepers = append(keepers, *k)
		}
	}
	for _, e := range r.entries {
		base, ok := strings.CutSuffix(e.Name, pending)
		first, isSegment := segment.ParseName(base)
		if !ok || !isSegment || !e.Regular {
			continue
		}
		k, err := r.image(e.Name, first)
		if err != nil {
			return nil, err
		}
		if k != nil {
			keepers = append(keepers, *k)
		}
		r.aside(e.Name, 0, 0, "left by an interrupted repair")
	}
	slices.SortStableFunc(keepers, func(a, b keeper) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.end, a.end))
	})
	return keepers, nil
}

// decide says what becomes of one sealed file. It returns what records it proves if it
// can't stay as it is.
func (r *planner) decide(f *segmentFile) (*keeper, error) {
	if r.retired(f) {
		return nil, nil // unlinked by the next writer
	}
	if r.right(f) && f.first == f.walk.header.First {
		h := f.walk.header
		if lacks(r.gone, h.First, h.End()) && lacks(r.have, h.First, h.End()) {
			r.stays(h)
			return nil, nil
		}
	}
	if f.err == nil && f.walk.headOK && !f.walk.header.Legacy && f.walk.header.Tag != r.tag {
		r.aside(f.name, 0, 0, "of another stream")
		return nil, nil
	}
	end := f.first + r.countOf(f)
	if f.err != nil && f.err != errShrunk {
		r.used = max(r.used, end)
		r.aside(f.name, f.first, end, "the disk can't read it")
		return nil, nil
	}
	k, err := r.image(f.name, f.first)
	if err != nil {
		return nil, err
	}
	if k == nil {
		r.used = max(r.used, end)
		r.aside(f.name, f.first, end, "nothing proves its records")
	}
	return k, nil
}

// lacks tells whether nothing of [from, to) is in the set.
func lacks(r journal.Ranges, from, to uint64) bool {
	next, ok := r.Next(from)
	return !ok || next >= to
}

// right tells whether a file is one of this stream and whole.
func (r *planner) right(f *segmentFile) bool {
	if f.bad() || !f.walk.headOK || f.walk.header.Legacy || f.walk.header.Tag != r.tag {
		return false
	}
	return !slices.ContainsFunc(r.report.Problems, func(p Problem) bool { return p.File == f.name && p.Kind != KindOverlap })
}

// stays counts a file among those that are not touched.
func (r *planner) stays(h segment.Header) {
	r.have = r.have.Add(h.First, h.End())
	r.seen = append(r.seen, journal.Sealed{First: h.First, End: h.End(), Durable: h.Flags&segment.FlagDurable != 0})
}

// image returns what records of the file name can be proven, or nil.
func (r *planner) image(name string, first uint64) (*keeper, error) {
	path := filepath.Join(r.dir, name)
	b, err := readBytes(r.do.fsys, path)
	if err != nil {
		return nil, err
	}
	x, ok := mend(b, r.schema, r.stream, first)
	if !ok {
		return nil, nil
	}
	h := x.header
	return &keeper{name: name, first: h.First, end: h.End(), header: h, sound: bytes.Equal(b, x.image),
		rows: func(from, to uint64) ([]byte, error) {
			b, err := readBytes(r.do.fsys, path)
			if err != nil {
				return nil, err
			}
			y, ok := mend(b, r.schema, r.stream, first)
			if !ok || y.header != h {
				return nil, fmt.Errorf("%s: %w: it has changed meanwhile", name, disk.ErrCorrupt)
			}
			return rowsOf(nil, y.image, r.schema, h, from, to), nil
		}}, nil
}

// restore plans to write the files whose records are wanted, and sets aside
// those that are not replaced by that.
func (r *planner) restore(keepers []keeper) {
	for _, g := range r.gone {
		r.have = r.have.Add(g.From, g.To)
	}
	for _, k := range keepers {
		for _, g := range r.have.Gaps(k.first, k.end) {
			if k.name == segment.Name(g.From)+pending && k.sound && g.To == k.end {
				r.ready(k)
				continue
			}
			r.write(k.header.Layout(), k.header.Flags, k.header.SealedAt, g, "from "+k.name, func() ([]byte, error) { return k.rows(g.From, g.To) })
		}
	}
	for _, k := range keepers {
		if !strings.HasSuffix(k.name, pending) {
			r.aside(k.name, k.first, k.end, "its records are where they belong")
		}
	}
}

// write plans a sealed file of the records of a range.
func (r *planner) write(l segment.Layout, flags uint32, sealedAt int64, g journal.Range, detail string, rows func() ([]byte, error)) {
	name := segment.Name(g.From)
	r.claimName(name)
	m := segment.Meta{ID: r.id, Capacity: uint32(r.stream.Capacity), Schema: r.schema}
	flags &= segment.FlagDurable
	r.do.images = append(r.do.images, image{
		Action: Action{Op: OpRebuild, File: name, FromSeq: g.From, ToSeq: g.To, Detail: detail},
		encode: func() ([]byte, error) {
			b, err := rows()
			if err != nil {
				return nil, err
			}
			var w segment.Writer
			image, _, err := w.Encode(m, l, b, sealedAt, flags)
			return image, err
		},
	})
	r.have = r.have.Add(g.From, g.To)
	r.seen = append(r.seen, journal.Sealed{First: g.From, End: g.To, Durable: flags != 0})
}

// ready plans to give a file that an interrupted repair left its name.
func (r *planner) ready(k keeper) {
	name := segment.Name(k.first)
	r.claimName(name)
	r.do.images = append(r.do.images, image{Action: Action{Op: OpRebuild, File: name, FromSeq: k.first, ToSeq: k.end, Detail: "from " + k.name}})
	r.stays(k.header)
}

// claimName takes back that a file, or what is to become it, is set aside: it
// will be replaced, and copied to quarantine before.
func (r *planner) claimName(name string) {
	r.made[name], r.made[name+pending] = true, true
	r.do.away = slices.DeleteFunc(r.do.away, func(m move) bool { return m.File == name || m.File == name+pending })
}
