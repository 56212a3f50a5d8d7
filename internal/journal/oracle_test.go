package journal

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An oracle follows the steps of docs/format.md, "Recovery", number by number
// over a small world, without sets of ranges: what a Plan must agree with.
type oracle struct {
	e       Evidence
	covered bitmap // sealed, dropped or lost
	top     uint64 // behind the last number that was covered at first
	live    []*Scan
	walked  []*Scan

	seq     uint64
	batch   uint64 // first number of the batch that is not complete
	open    bool   // there is one
	hole    bool
	lost    bitmap
	found   map[uint64]*Scan // which journal a number is taken from
	behind  []Frame
	witness uint64
}

// A ruling is what must be the same in a Plan.
type ruling struct {
	stop, next, witness, cut uint64
	lost, missing            string
	strays                   string
	closed                   bool
	found                    string
}

func judge(e Evidence) ruling {
	o := &oracle{e: e, found: make(map[uint64]*Scan)}
	o.step1()
	o.step3()
	o.seq = o.skip(0)
	for _, s := range o.live {
		o.step2(s)
	}
	for o.losable() {
		o.lose()
	}
	return o.steps4to6()
}

func (o *oracle) step1() {
	for _, s := range o.e.Sealed {
		o.covered.fill(s.First, s.End)
	}
	for _, r := range o.e.Drops {
		o.covered.fill(r.From, r.To)
	}
	for n, in := range o.covered {
		if in {
			o.top = uint64(n) + 1
		}
	}
	for _, s := range o.e.Scans {
		void := slices.ContainsFunc(o.e.Scans, func(n *Scan) bool {
			return n.Header.Generation > s.Header.Generation && n.Header.First <= s.Header.First
		})
		need := max(s.End, s.Header.First+1) - s.Header.First
		free := void || o.covered.count(s.Header.First, s.Header.First+need) == need
		if !free {
			o.live = append(o.live, s)
		}
	}
	slices.SortFunc(o.live, func(a, b *Scan) int { return cmp.Compare(a.Header.Generation, b.Header.Generation) })
}

func (o *oracle) step3() {
	o.witness = o.e.Cursor
	for _, s := range o.e.Sealed {
		if s.Durable {
			o.witness = max(o.witness, s.End)
		}
	}
	for _, s := range o.e.Scans {
		o.witness = max(o.witness, s.Durable)
	}
}

func (o *oracle) skip(n uint64) uint64 {
	for o.covered[n] {
		n++
	}
	return n
}

// losable tells whether the number reached has something covered above it.
func (o *oracle) losable() bool { return o.seq < o.top }

func (o *oracle) lose() {
	o.lost[o.seq], o.covered[o.seq] = true, true
	o.seq = o.skip(o.seq)
	o.open = false
}

// step2 replays one journal.
func (o *oracle) step2(s *Scan) {
	for !o.hole && s.Header.First > o.seq && o.losable() {
		o.lose()
	}
	o.behind = append(o.behind, s.Behind...)
	if o.hole || s.Header.First > o.seq {
		o.hole = true
		o.behind = append(o.behind, s.Frames...)
		return
	}
	o.walked = append(o.walked, s)
	for _, f := range s.Frames {
		if !o.open {
			o.batch = f.First
		}
		o.open = f.More
		for n := f.First; n < f.First+uint64(f.Count); n++ {
			if n == o.seq {
				o.found[n] = s
				o.seq = o.skip(n + 1)
			}
		}
	}
}

func (o *oracle) steps4to6() (r ruling) {
	r.stop, r.witness = o.seq, o.witness
	if o.open {
		r.stop = max(o.batch, o.top) // never below what was sealed, or dropped
		r.stop = min(r.stop, o.seq)
	}
	r.cut = o.seq - r.stop
	var missing bitmap
	var found []string
	for n := range uint64(len(o.covered)) {
		missing[n] = n < o.witness && (o.lost[n] || n >= r.stop && !o.covered[n])
		if s := o.found[n]; s != nil && n < r.stop {
			found = append(found, fmt.Sprintf("%d@%d", n, s.N))
		}
	}
	r.lost = fmt.Sprint(o.lost.ranges(0, 64, true))
	r.missing = fmt.Sprint(missing.ranges(0, 64, true))
	r.found = strings.Join(found, " ")
	r.next = r.stop
	var strays []string
	for _, f := range o.behind {
		if f.End() > r.stop {
			strays = append(strays, frameText([]Frame{f}))
			if !o.e.Commit {
				r.next = max(r.next, f.End())
			}
		}
	}
	slices.Sort(strays)
	r.strays = strings.Join(strays, " ")
	if n := len(o.walked); n > 0 {
		last := o.walked[n-1]
		r.closed = last.StopKind == KindClosing && last.End == r.stop && r.cut == 0 && !o.open && !o.hole &&
			len(last.Behind) == 0 && len(strays) == 0 && r.lost == "[]"
		for n := last.Header.First; n < r.stop; n++ {
			r.closed = r.closed && o.found[n] == last // nowhere else
		}
	}
	return r
}

// rulingOf is what a Plan of the evidence says of the same.
func rulingOf(e Evidence) ruling {
	p := Recover(e)
	r := ruling{stop: p.Stop, next: p.Next, witness: p.Witness, cut: p.Cut, closed: p.Closed}
	r.lost = fmt.Sprint(Union(p.Lost))
	r.missing = fmt.Sprint(Union(p.Missing))
	var found, strays []string
	for _, x := range p.Pieces {
		for n := x.From; n < x.To; n++ {
			if e.covers(n) {
				continue // a piece may go on over numbers that are elsewhere, too
			}
			found = append(found, fmt.Sprintf("%d@%d", n, x.Scan.N))
		}
	}
	r.found = strings.Join(found, " ")
	for _, s := range p.Strays {
		strays = append(strays, frameText([]Frame{s.Frame}))
	}
	slices.Sort(strays)
	r.strays = strings.Join(strays, " ")
	return r
}

// covers tells whether a number is sealed or dropped.
func (e Evidence) covers(n uint64) bool {
	return e.Drops.Has(n) || slices.ContainsFunc(e.Sealed, func(s Sealed) bool { return s.First <= n && n < s.End })
}

// randomEvidence is a ring as a crash may leave it, and often as none could.
// Capacity is 8, widths are 16, and all numbers stay below 60.
func randomEvidence(r *rand.Rand) Evidence {
	e := Evidence{Commit: r.IntN(2) == 0}
	seq, gen := r.Uint64N(4), r.Uint64N(3)
	// What comes before the journals is sealed, dropped, or, seldom, nowhere.
	for at := uint64(0); at < seq || len(e.Sealed) == 0 && r.IntN(3) == 0; {
		end := at + 1 + r.Uint64N(8)
		switch r.IntN(8) {
		default:
			e.Sealed = append(e.Sealed, Sealed{at, end, r.IntN(5) > 0})
		case 0, 1:
			e.Drops = e.Drops.Add(at, end)
		case 2:
		}
		at = end
		seq = max(seq, at)
	}
	for n := range 1 + r.IntN(Ring) {
		gen += 1 + r.Uint64N(2)
		first := seq
		switch r.IntN(12) {
		case 0:
			first = r.Uint64N(seq + 1)
		case 1:
			first += r.Uint64N(3)
		}
		s := randomJournal(r, n, gen, min(first, 40))
		e.Scans = append(e.Scans, s)
		seq = s.End
		if end := max(s.End, s.BehindEnd()); end > seq && r.IntN(2) == 0 {
			seq = min(end, 40)
		}
		if r.IntN(3) == 0 && s.End > s.Header.First {
			from := s.Header.First
			if k := len(e.Sealed); k > 0 {
				from = max(from, e.Sealed[k-1].End)
			}
			if from < s.End {
				e.Sealed = append(e.Sealed, Sealed{from, s.End, r.IntN(3) > 0})
			}
		}
	}
	if r.IntN(8) == 0 {
		from := r.Uint64N(seq + 4)
		e.Drops = e.Drops.Add(from, from+r.Uint64N(6))
	}
	if r.IntN(4) == 0 {
		e.Cursor = r.Uint64N(seq + 2)
	}
	r.Shuffle(len(e.Scans), func(i, k int) { e.Scans[i], e.Scans[k] = e.Scans[k], e.Scans[i] })
	return e
}

// randomJournal goes through bytes, so that a Scan is what Read makes of them.
func randomJournal(r *rand.Rand, n int, gen, first uint64) *Scan {
	h := Header{Width: 16, Generation: gen, First: first, Salt: r.Uint64()}
	if r.IntN(4) == 0 {
		h.Base = r.Uint64N(first + 1)
	}
	const capacity = 8
	l := newLife(h, capacity)
	durable := func() uint64 {
		if r.IntN(6) > 0 {
			return h.Base
		}
		return r.Uint64N(first + 3)
	}
	number := first
	frames := func(n int) {
		for range n {
			count := 1 + r.IntN(3)
			if r.IntN(4) == 0 {
				count = int(first+capacity) - int(number)
			}
			if number+uint64(count) > first+capacity || count == 0 {
				return
			}
			number += uint64(count)
			l.records(number-uint64(count), count, r.IntN(7) == 0, durable())
		}
	}
	frames(r.IntN(6))
	switch r.IntN(5) {
	case 0:
		l.mark(KindMark, min(durable(), number))
	case 1, 2:
		l.mark(KindClosing, min(durable(), number))
	}
	if r.IntN(4) == 0 && number+2 < first+capacity {
		l.skip()
		number++
		frames(1 + r.IntN(2))
		if r.IntN(3) == 0 {
			l.mark(KindMark, durable())
		}
	}
	s, err := Read(n, l.data, h, capacity)
	if err != nil {
		panic(err)
	}
	return s
}

// evidenceText shows evidence for a failure.
func evidenceText(e Evidence) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sealed %v drops %v cursor %d commit %v\n", e.Sealed, e.Drops, e.Cursor, e.Commit)
	for _, s := range e.Scans {
		fmt.Fprintf(&b, "  journal.%d gen %d first %d: %s, end %d, kind %d, behind %s, durable %d\n", s.N, s.Header.Generation,
			s.Header.First, frameText(s.Frames), s.End, s.StopKind, frameText(s.Behind), s.Durable)
	}
	return b.String()
}
