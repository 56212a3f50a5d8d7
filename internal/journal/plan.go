package journal

import "slices"

// A Sealed is what recovery needs to know of a sealed file that checked out.
type Sealed struct {
	First, End uint64
	Durable    bool // all below End was on disk when the file got its name
}

// Evidence is all that recovery looks at.
type Evidence struct {
	Sealed []Sealed // sorted by First
	Drops  Ranges   // drops.json: gone, and known to be
	Scans  []*Scan  // journals with a valid header, in any order
	Cursor uint64   // durable of the cursors page; 0 if its checksum does not hold
	Commit bool     // the stream's mode: numbers go on at the stop
}

// A Piece is a run of records that replay found.
type Piece struct {
	Scan     *Scan
	Frame    Frame
	From, To uint64 // of the frame's records those that count
}

// A Stray is a good frame behind the stop: written, never acknowledged.
type Stray struct {
	Scan  *Scan
	Frame Frame
}

// A Live is a segment, or what is left of one, that only a journal holds.
type Live struct {
	First, End uint64 // End may equal First: started, and still empty
	Scan       *Scan
}

// A Plan is what recovery found and what is to be done. Making one changes nothing.
type Plan struct {
	Stop       uint64  // all below is found, sealed, dropped or lost; nothing behind became durable
	Next       uint64  // the number that the next record gets: Stop, or above the strays
	Witness    uint64  // W of docs/format.md
	Missing    []Range // proven to have been durable, and not found: refuse, change nothing
	Lost       []Range // holes below covered numbers whose durability nothing proves (Os)
	Live       []Live  // oldest first; the last one was active
	Pieces     []Piece // their records, in order
	Strays     []Stray
	Cut        uint64 // records of an unfinished batch that were cut
	Closed     bool   // the last journal ended at a closing mark and goes on being used
	Generation uint64 // the highest of any header
}

// walk is the state of one replay over the ring.
type walk struct {
	e          Evidence
	covered    Ranges // in sealed files that check out, dropped, or lost
	coveredEnd uint64 // all below was written: the stop is never below
	plan       *Plan
	seq        uint64 // the number reached
	batchStart uint64
	inBatch    bool
	hole       bool // a journal begins above seq: nothing from here on counts
	live       []*Scan
	walked     int // journals of live that were replayed
	behind     uint64
}

// Recover applies steps 1 to 6 of the recovery procedure to the evidence.
func Recover(e Evidence) *Plan {
	w := &walk{e: e, plan: &Plan{Witness: e.Cursor}}
	w.cover()
	w.witness()
	w.choose()
	w.seq = w.covered.Skip(0)
	w.batchStart = w.seq
	for _, s := range w.live {
		w.journal(s)
	}
	w.finish()
	return w.plan
}

func (w *walk) cover() {
	var rs []Range
	for _, s := range w.e.Sealed {
		rs = append(rs, Range{s.First, s.End})
	}
	w.covered = Union(append(rs, w.e.Drops...))
	if n := len(w.covered); n > 0 {
		w.coveredEnd = w.covered[n-1].To
	}
}

// witness finds W. Files that were not known to be on disk prove nothing.
func (w *walk) witness() {
	for _, s := range w.e.Sealed {
		if s.Durable {
			w.plan.Witness = max(w.plan.Witness, s.End)
		}
	}
	for _, s := range w.e.Scans {
		w.plan.Witness = max(w.plan.Witness, s.Durable)
		w.plan.Generation = max(w.plan.Generation, s.Header.Generation)
	}
}

// choose sorts the journals by generation and leaves out the void and the free.
func (w *walk) choose() {
	js := slices.Clone(w.e.Scans)
	slices.SortStableFunc(js, func(a, b *Scan) int {
		switch {
		case a.Header.Generation < b.Header.Generation:
			return -1
		case a.Header.Generation > b.Header.Generation:
			return 1
		}
		return 0
	})
	for i, s := range js {
		void := slices.ContainsFunc(js[i+1:], func(n *Scan) bool {
			return n.Header.Generation > s.Header.Generation && n.Header.First <= s.Header.First
		})
		if !void && !w.free(s) {
			w.live = append(w.live, s)
		}
	}
}

func (w *walk) free(s *Scan) bool {
	if s.End == s.Header.First {
		return w.covered.Has(s.End)
	}
	return w.covered.Covers(s.Header.First, s.End)
}

// lose gives up the numbers up to the next covered one, if there is one above,
// but not beyond limit. It tells whether it did.
//
// Drops count like files here: an Os stream's file may be lost when the power
// goes while a later one, retired, is named in drops.json. Numbers that went on
// below that range would run into it, and be taken for dropped.
func (w *walk) lose(limit uint64) bool {
	next, ok := w.covered.Next(w.seq)
	if !ok || w.seq >= limit {
		return false
	}
	end := min(next, limit)
	w.plan.Lost = append(w.plan.Lost, Range{w.seq, end})
	w.covered = w.covered.Add(w.seq, end)
	w.seq = w.covered.Skip(end)
	w.batchStart, w.inBatch = w.seq, false
	return true
}

// journal replays one live journal.
func (w *walk) journal(s *Scan) {
	if !w.hole {
		for s.Header.First > w.seq && w.lose(s.Header.First) {
		}
	}
	if w.hole || s.Header.First > w.seq {
		w.hole = true
		w.behind = max(w.behind, s.BehindEnd())
		if len(s.Frames) > 0 {
			w.behind = max(w.behind, s.End)
		}
		w.stray(s, s.Frames)
		w.stray(s, s.Behind)
		return
	}
	w.walked++
	for _, f := range s.Frames {
		if !w.inBatch {
			w.batchStart = f.First
		}
		w.inBatch = f.More
		if f.End() <= w.seq {
			continue
		}
		w.plan.Pieces = append(w.plan.Pieces, Piece{Scan: s, Frame: f, From: max(f.First, w.seq), To: f.End()})
		w.seq = w.covered.Skip(f.End())
	}
	w.behind = max(w.behind, s.BehindEnd())
	w.stray(s, s.Behind)
}

func (w *walk) stray(s *Scan, frames []Frame) {
	for _, f := range frames {
		w.plan.Strays = append(w.plan.Strays, Stray{s, f})
	}
}

func (w *walk) finish() {
	p := w.plan
	for w.lose(w.coveredEnd) {
	}
	p.Stop = w.seq
	if w.inBatch {
		p.Stop = max(w.batchStart, min(w.coveredEnd, w.seq))
		p.Cut = w.seq - p.Stop
	}
	p.Next = p.Stop
	p.Strays = slices.DeleteFunc(p.Strays, func(s Stray) bool { return s.Frame.End() <= p.Stop })
	if !w.e.Commit && w.behind > p.Stop {
		p.Next = w.behind
	}
	w.missing()
	w.segments()
	if n := len(p.Live); n > 0 {
		last := w.live[w.walked-1]
		p.Closed = last.StopKind == KindClosing && last.End == p.Stop && !w.inBatch && !w.hole &&
			len(p.Strays) == 0 && len(last.Behind) == 0 && len(p.Lost) == 0 &&
			p.Live[n-1] == Live{last.Header.First, p.Stop, last}
	}
}

// missing names what the witness proves to be gone.
func (w *walk) missing() {
	p := w.plan
	for _, l := range p.Lost {
		if l.From < p.Witness {
			p.Missing = append(p.Missing, Range{l.From, min(l.To, p.Witness)})
		}
	}
	if p.Stop < p.Witness {
		p.Missing = append(p.Missing, w.covered.Gaps(p.Stop, p.Witness)...)
	}
}

// segments lists what only the replayed journals hold below the stop, each
// number once, and drops the pieces that were cut. A journal that is all covered
// is left out, unless it is the last.
func (w *walk) segments() {
	p := w.plan
	reached := uint64(0)
	for i, s := range w.live[:w.walked] {
		if s.Header.First > p.Stop {
			continue // all of it was cut
		}
		reached = max(reached, s.Header.First)
		runs := w.covered.Gaps(reached, min(s.End, p.Stop))
		for _, r := range runs {
			p.Live = append(p.Live, Live{First: r.From, End: r.To, Scan: s})
			reached = r.To
		}
		if len(runs) == 0 && i+1 == w.walked {
			first := w.covered.Skip(reached)
			p.Live = append(p.Live, Live{First: first, End: first, Scan: s})
		}
	}
	kept := p.Pieces[:0]
	for _, x := range p.Pieces {
		if x.To = min(x.To, p.Stop); x.From < x.To {
			kept = append(kept, x)
		}
	}
	p.Pieces = kept
}

// Rows appends the records of [from, to), as the plan's pieces have them, to b.
// ok is false if a record is not there.
func (p *Plan) Rows(b []byte, from, to uint64) (rows []byte, ok bool) {
	for _, x := range p.Pieces {
		lo, hi := max(x.From, from), min(x.To, to)
		if lo >= hi {
			continue
		}
		if lo != from {
			return b, false
		}
		w := uint64(x.Scan.Header.Width)
		b = append(b, x.Scan.Records(x.Frame)[(lo-x.Frame.First)*w:(hi-x.Frame.First)*w]...)
		from = hi
	}
	return b, from == to
}
