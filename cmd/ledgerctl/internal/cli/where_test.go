package cli

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/query"
)

// TestPoint: the caret stands below the place, also where the text is long or has
// what a terminal would act on.
func TestPoint(t *testing.T) {
	long := strings.Repeat("n == 1 || ", 20)
	for _, c := range []struct {
		text string
		pos  int
		want string
	}{
		{"n = 1", 2, "  n = 1\n    ^\n"},
		{"n ==", 4, "  n ==\n      ^\n"},
		{"", 0, "  \n  ^\n"},
		{"n ==\n\t1 1", 8, "  n ==  1 1\n          ^\n"},
		{"\x1b[31m '日本' !", 15, "  \ufffd[31m '日本' !\n               ^\n"},
		{long + "!" + long, 200, "  …" + long[len(long)-49:] + "!" + long[:24] + "…\n  " + strings.Repeat(" ", 50) + "^\n"},
	} {
		var b strings.Builder
		a := &app{errs: &b}
		a.point(inFlag("--where", &query.SyntaxError{Text: c.text, Pos: c.pos}))
		if b.String() != c.want {
			t.Errorf("%q at %d is shown as\n%swant\n%s", c.text, c.pos, b.String(), c.want)
		}
		a.point(errors.New("another"))
		if b.String() != c.want {
			t.Error("another error shows a place")
		}
	}
}

// TestLastAgainstNaive: the last records for which a condition holds are found
// wherever they are.
func TestLastAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	times := make([]int64, 203)
	for i := range times {
		times[i] = rng.Int64N(10)
	}
	snap := testStream(t, times, false)
	for range 200 {
		limit, n := rng.Int64N(12), rng.IntN(60)
		var want []uint64
		for seq, ts := range times {
			if ts < limit {
				want = append(want, uint64(seq))
			}
		}
		want = want[max(0, len(want)-n):]
		s := &scan{snap: snap, to: snap.End(), times: true, until: limit}
		if err := s.where("seq >= 0", ""); err != nil {
			t.Fatal(err)
		}
		if err := new(app).last(t.Context(), s, uint64(n)); err != nil {
			t.Fatal(err)
		}
		if got := numbers(t, s, 0); !slices.Equal(got, want) {
			t.Fatalf("the last %d below %d: %v, want %v", n, limit, got, want)
		}
	}
}
