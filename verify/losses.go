package verify

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// journalsAndLosses plans what becomes of the journals and which numbers are
// named as lost. Where the engine's own recovery will find all that there is,
// the journals are left to it; where it would refuse, or give up what a journal
// still has, their records are sealed.
func (r *planner) journalsAndLosses() error {
	slices.SortFunc(r.seen, func(a, b journal.Sealed) int { return cmp.Compare(a.First, b.First) })
	scans := r.brokenJournals()
	found := r.frames(scans)
	all := r.have
	for _, x := range found {
		all = all.Add(x.from, x.to)
	}
	e := journal.Evidence{Sealed: r.seen, Drops: r.gone, Scans: scans, Cursor: r.cursor.Durable, Commit: r.commit()}
	w := max(journal.Recover(e).Witness, r.plan.Witness, r.used)
	sealedEnd := uint64(0)
	for _, s := range r.seen {
		sealedEnd = max(sealedEnd, s.End)
	}
	lost := all.Gaps(0, max(w, sealedEnd))
	e.Drops = journal.Union(slices.Concat(r.gone, lost))
	p := journal.Recover(e)
	if r.trusted(scans) && dense(p.Live, sealedEnd) && len(p.Missing) == 0 && len(p.Lost) == 0 && (r.commit() || p.Next == p.Stop) {
		r.headerCopies()
	} else {
		lost = r.seal(found, w, sealedEnd)
	}
	r.brokenSizes()
	return r.dropsFile(lost)
}

// dense tells whether the journals in use follow each other without a gap, above
// all sealed files: so they are after any crash. Where damage left them
// otherwise their records are sealed, and the writer finds nothing unusual.
func dense(live []journal.Live, sealedEnd uint64) bool {
	for i, l := range live {
		if i == 0 && l.First < sealedEnd || i > 0 && l.First != live[i-1].End {
			return false
		}
	}
	return true
}

// brokenJournals sets aside the journals that aren't of this stream or that
// nothing can be read of, and returns the others.
func (r *planner) brokenJournals() []*journal.Scan {
	var scans []*journal.Scan
	for _, j := range r.journals {
		if j.ok {
			scans = append(scans, j.scan)
			continue
		}
		for _, p := range r.report.Problems {
			if p.File == j.name {
				r.aside(j.name, 0, 0, p.Detail)
			}
		}
	}
	return scans
}

// trusted tells whether no journal in use has a size or a hole that recovery
// doesn't mind but verify does.
func (r *planner) trusted(scans []*journal.Scan) bool {
	for _, s := range scans {
		for _, p := range r.report.Problems {
			if p.File == journal.Name(s.N) && (p.Kind == KindSize || p.Kind == KindHole) {
				return false
			}
		}
	}
	return true
}

// brokenSizes sets aside the journals that were cut short, whose records are
// sealed by now.
func (r *planner) brokenSizes() {
	for _, p := range r.report.Problems {
		if _, ok := journal.ParseName(p.File); ok && p.Kind == KindSize {
			r.aside(p.File, 0, 0, p.Detail)
		}
	}
}

// headerCopies plans to write a journal's damaged header anew from its other copy.
func (r *planner) headerCopies() {
	for _, p := range r.report.Problems {
		for _, j := range r.journals {
			if p.File == j.name && p.Kind == KindHeader && j.ok {
				r.do.headers = append(r.do.headers, rewrite{at: p.Offset, data: j.header.Append(nil),
					Action: Action{Op: OpRebuild, File: j.name, Detail: fmt.Sprintf("header at byte %d, from its other copy", p.Offset)}})
			}
		}
	}
}

// A found is records of a journal that no file has.
type found struct {
	scan     *journal.Scan
	frame    journal.Frame
	from, to uint64
}

// frames returns the records of journals that are neither in a file nor in
// drops.json, by number: also those of good frames behind a bad one. A journal
// that a newer one has taken the place of is not read.
func (r *planner) frames(scans []*journal.Scan) []found {
	scans = slices.Clone(scans)
	slices.SortFunc(scans, func(a, b *journal.Scan) int { return cmp.Compare(a.Header.Generation, b.Header.Generation) })
	var out []found
	have := r.have
	for i, s := range scans {
		void := slices.ContainsFunc(scans[i+1:], func(n *journal.Scan) bool { return n.Header.First <= s.Header.First })
		if void {
			continue
		}
		for _, f := range slices.Concat(s.Frames, s.Behind) {
			for _, g := range have.Gaps(f.First, f.End()) {
				out = append(out, found{s, f, g.From, g.To})
				have = have.Add(g.From, g.To)
			}
		}
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.from, b.from) })
	return out
}

// seal plans to seal what the journals hold, and returns the numbers below its
// end that are lost. w is the number below which all was durable.
func (r *planner) seal(all []found, w, sealedEnd uint64) []journal.Range {
	have := r.have
	for _, x := range all {
		have = have.Add(x.from, x.to)
	}
	// On a Commit stream what stands behind a hole above w was never
	// acknowledged: numbers go on at the hole. Elsewhere all of it was.
	end := max(have.Skip(w), sealedEnd)
	if n := len(have); n > 0 && !r.commit() {
		end = max(end, have[n-1].To)
	}
	end = max(wholeBatches(all, end), w, sealedEnd)

	flags := uint32(0)
	if r.stream.Durability != durabilities[2] {
		flags = segment.FlagDurable
	}
	layout, _ := segment.ParseLayout(r.stream.Layout)
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k].scan == all[i].scan && all[k].from == all[k-1].to {
			k++
		}
		run := slices.Clone(all[i:k])
		i = k
		g := journal.Range{From: run[0].from, To: min(run[len(run)-1].to, end)}
		if g.From >= g.To {
			continue
		}
		r.write(layout, flags, r.do.now.UnixMilli(), g, "from "+journal.Name(run[0].scan.N), func() ([]byte, error) { return rowsOfFrames(run, end), nil })
	}
	return r.have.Gaps(0, end)
}

// wholeBatches returns end, or where its last batch began if that goes on in a
// frame that isn't there.
func wholeBatches(all []found, end uint64) uint64 {
	for _, x := range slices.Backward(all) {
		if x.from >= end {
			continue
		}
		if x.to != end || x.to != x.frame.End() || !x.frame.More {
			break
		}
		end = x.from
	}
	return end
}

// rowsOfFrames returns the records of a run below end.
func rowsOfFrames(run []found, end uint64) []byte {
	var rows []byte
	for _, x := range run {
		to := min(x.to, end)
		if x.from >= to {
			continue
		}
		width := uint64(x.scan.Header.Width)
		b := x.scan.Records(x.frame)
		rows = append(rows, b[(x.from-x.frame.First)*width:(to-x.frame.First)*width]...)
	}
	return rows
}

// dropsFile plans to write drops.json, if it can't be read or if numbers are lost.
func (r *planner) dropsFile(lost []journal.Range) error {
	old, unread := r.drops, ""
	if r.dropsErr != nil || old.ID != "" && old.ID != meta.FormatID(r.id) {
		old, unread = meta.Drops{}, "what it said can't be read: the gaps between the files that are there are named anew"
	}
	if len(lost) == 0 && unread == "" {
		return nil
	}
	old.ID = meta.FormatID(r.id)
	for _, l := range lost {
		old = old.Add(meta.Drop{From: l.From, To: l.To, Reason: meta.ReasonRepair, At: r.do.now})
		r.do.lost = append(r.do.lost, Action{Op: OpDrop, File: meta.DropsFile, FromSeq: l.From, ToSeq: l.To,
			Detail: "lost: no good file and no journal has them"})
	}
	b, err := old.Encode()
	if err != nil {
		return err
	}
	r.do.drops = &rewrite{at: -1, data: b, Action: Action{Op: OpRebuild, File: meta.DropsFile, Detail: unread}}
	return nil
}
