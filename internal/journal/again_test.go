package journal

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A repair carries a plan out on evidence, one step of docs/format.md after the
// other. Of each step only what recovery can see of it is there.
type repair struct {
	t    *testing.T
	seed uint64
	e    Evidence
	p    *Plan
}

const repairCapacity = 8

// steps are the states of the disk after each step of recovery.
func (r repair) steps() []Evidence {
	e, p := r.e, r.p
	var states []Evidence
	step := func() {
		e.Sealed, e.Drops, e.Scans = slices.Clone(e.Sealed), slices.Clone(e.Drops), slices.Clone(e.Scans)
		states = append(states, e)
	}
	// What is lost is named before a seal proves that all below it was durable,
	// and before the journals that tell of strays are covered.
	for _, l := range p.Lost {
		e.Drops = e.Drops.Add(l.From, l.To)
	}
	e.Drops = e.Drops.Add(p.Stop, p.Next)
	step()
	rest := Live{First: p.Next, End: p.Next}
	for i, l := range p.Live {
		if l.First == l.End {
			continue
		}
		if i == len(p.Live)-1 && l.End-l.First < repairCapacity && l.End == p.Next {
			rest = l
			break
		}
		e.Sealed = append(e.Sealed, Sealed{l.First, l.End, true})
		slices.SortFunc(e.Sealed, func(a, b Sealed) int { return cmp.Compare(a.First, b.First) })
		step()
	}
	rows, ok := p.Rows(nil, rest.First, rest.End)
	if !ok {
		r.t.Fatalf("seed %d: no rows of %+v", r.seed, rest)
	}
	h := Header{Width: 16, Generation: p.Generation + 1, First: rest.First, Base: p.Next, Salt: r.seed}
	l := newLife(h, repairCapacity)
	if len(rows) > 0 {
		l.put(shape{count: len(rows) / 16, durable: p.Witness}, rows)
	}
	s, err := Read(4, l.data, h, repairCapacity)
	if err != nil {
		r.t.Fatal(err)
	}
	// The void go before what makes them void.
	slices.SortFunc(e.Scans, func(a, b *Scan) int { return cmp.Compare(a.Header.Generation, b.Header.Generation) })
	e.Scans = append(e.Scans, s)
	step()
	for len(e.Scans) > 1 {
		e.Scans = e.Scans[1:] // the headers of the first are zeroed
		step()
	}
	return states
}

// possible tells whether a crash can leave the evidence, as far as the test
// needs it: a journal is sealed or dropped as a whole, and where one begins the
// one before it ended.
func (e Evidence) possible() bool {
	for _, s := range e.Scans {
		covered := 0
		for n := s.Header.First; n < s.End; n++ {
			if e.covers(n) {
				covered++
			}
		}
		if covered > 0 && covered < int(s.End-s.Header.First) {
			return false
		}
		for _, o := range e.Scans {
			if o.Header.Generation < s.Header.Generation && s.Header.First < o.End && s.Header.First > o.Header.First {
				return false
			}
		}
	}
	return true
}

// check carries out the plan of e, and that of each state on the way again.
func (r repair) check(depth int) (states int) {
	for i, state := range r.steps() {
		states++
		q, p := Recover(state), r.p
		if len(q.Missing) > 0 || q.Next != p.Next || len(q.Lost) > 0 || q.Stop != p.Next && q.Stop != p.Stop {
			r.t.Fatalf("seed %d: after step %d the plan is to stop at %d, go on at %d, missing %v, lost %v; it was %d, %d, of\n%sthen\n%s",
				r.seed, i, q.Stop, q.Next, q.Missing, q.Lost, p.Stop, p.Next, evidenceText(r.e), evidenceText(state))
		}
		for n := range p.Next {
			if !state.covers(n) && !slices.ContainsFunc(q.Pieces, func(x Piece) bool { return x.From <= n && n < x.To }) {
				r.t.Fatalf("seed %d: after step %d number %d is nowhere, of\n%sthen\n%s", r.seed, i, n, evidenceText(r.e), evidenceText(state))
			}
		}
		if depth > 0 {
			states += repair{r.t, r.seed, state, q}.check(depth - 1)
		}
	}
	return states
}

// TestRecoverAgain: a crash behind any step of recovery leads to the same end,
// three times over. Nothing is refused, cut or lost that wasn't, and numbers go
// on at the same one.
func TestRecoverAgain(t *testing.T) {
	states := 0
	for seed := range uint64(800) {
		e := randomEvidence(rand.New(rand.NewPCG(seed, 5)))
		p := Recover(e)
		if len(p.Missing) == 0 && e.possible() {
			states += repair{t, seed, e, p}.check(2)
		}
	}
	if states < 20000 {
		t.Errorf("%d states are too few", states)
	}
}
