package journal

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestRecoverAgainstRules: the plan of any evidence is what the words of
// docs/format.md say.
func TestRecoverAgainstRules(t *testing.T) {
	seen := make(map[string]int)
	for seed := range uint64(12000) {
		e := randomEvidence(rand.New(rand.NewPCG(seed, 2)))
		want, got := judge(e), rulingOf(e)
		if got != want {
			t.Fatalf("seed %d: %+v, want %+v, of\n%s", seed, got, want, evidenceText(e))
		}
		for what, is := range map[string]bool{
			"refused": want.missing != "[]", "closed": want.closed, "cut": want.cut > 0, "lost": want.lost != "[]",
			"strays": want.strays != "", "numbers skipped": want.next > want.stop, "plain": want.missing == "[]" && want.found != "",
		} {
			if is {
				seen[what]++
			}
		}
	}
	for _, what := range []string{"refused", "closed", "cut", "lost", "strays", "numbers skipped", "plain"} {
		if seen[what] < 100 {
			t.Errorf("%s: %d of 12000 cases are too few", what, seen[what])
		}
	}
}

// TestRecoverInAnyOrder: neither the order of the journals nor a second look
// changes a plan, and making one changes nothing.
func TestRecoverInAnyOrder(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		e := randomEvidence(r)
		text := evidenceText(e)
		first := rulingOf(e)
		if evidenceText(e) != text {
			t.Fatalf("seed %d: the evidence was\n%sand is\n%s", seed, text, evidenceText(e))
		}
		r.Shuffle(len(e.Scans), func(i, k int) { e.Scans[i], e.Scans[k] = e.Scans[k], e.Scans[i] })
		if again := rulingOf(e); again != first {
			t.Fatalf("seed %d: %+v, then %+v, of\n%s", seed, first, again, text)
		}
	}
}

// TestLive: the segments that are left cover what was found, once, in order,
// and their records are there.
func TestLive(t *testing.T) {
	checked := 0
	for seed := range uint64(6000) {
		e := randomEvidence(rand.New(rand.NewPCG(seed, 4)))
		p := Recover(e)
		if len(p.Missing) > 0 {
			continue
		}
		var in bitmap
		end := uint64(0)
		for _, l := range p.Live {
			if l.First < end || l.End < l.First || l.End > p.Stop {
				t.Fatalf("seed %d: %+v behind %d, stop %d, of\n%s", seed, l, end, p.Stop, evidenceText(e))
			}
			end = l.End
			in.fill(l.First, l.End)
		}
		for _, x := range p.Pieces {
			for n := x.From; n < x.To; n++ {
				if in[n] == e.covers(n) {
					t.Fatalf("seed %d: %d is in a segment: %v, and elsewhere: %v, of\n%s", seed, n, in[n], e.covers(n), evidenceText(e))
				}
			}
		}
		for _, l := range p.Live {
			rows, ok := p.Rows(nil, l.First, l.End)
			if !ok || !bytes.Equal(rows, rowsOf(l.First, int(l.End-l.First), 16)) {
				t.Fatalf("seed %d: Rows of %+v = %x, %v, of\n%s", seed, l, rows, ok, evidenceText(e))
			}
			checked++
		}
	}
	if checked < 1000 {
		t.Errorf("%d segments are too few", checked)
	}
}
