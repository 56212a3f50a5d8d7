package journal

import (
	"fmt"
	"slices"
	"testing"
)

// ring scans journals of 8 records of 16 bytes; generations count up from 1.
func ring(t *testing.T, lives ...func(l *life)) (scans []*Scan) {
	t.Helper()
	for n, write := range lives {
		l := newLife(Header{Width: 16, Generation: uint64(n) + 1, Salt: uint64(n) + 77}, 8)
		write(l)
		l.header() // write may have changed it
		s := readBytes(t, l.data, 8)
		s.N = n
		scans = append(scans, s)
	}
	return scans
}

// from begins a journal's life at first, with frames of a record each up to end.
func from(first, end uint64, then ...func(l *life)) func(l *life) {
	return func(l *life) {
		l.h.First = first
		for n := first; n < end; n++ {
			l.records(n, 1, false, 0)
		}
		for _, f := range then {
			f(l)
		}
	}
}

// TestHoles: what an Os stream lost below files that nothing proves to have
// been on disk is given up and named, and replay goes on behind it. If anything
// proves that it was on disk, the stream is refused.
func TestHoles(t *testing.T) {
	loose, synced := false, true
	torn := func(l *life) { l.skip(); l.records(l.h.First+7, 1, false, 0) }
	for _, c := range []struct {
		name    string
		sealed  []Sealed
		drops   Ranges
		lives   []func(l *life)
		cursor  uint64
		commit  bool
		lost    []Range
		missing []Range
		stop    uint64
		next    uint64
		live    []Range
	}{
		{name: "the first file is gone", sealed: []Sealed{{8, 16, loose}}, lives: []func(*life){from(16, 20)},
			lost: []Range{{0, 8}}, stop: 20, next: 20, live: []Range{{16, 20}}},
		{name: "a file in the middle is gone", sealed: []Sealed{{0, 8, loose}, {16, 24, loose}},
			lost: []Range{{8, 16}}, stop: 24, next: 24},
		{name: "two files are gone", sealed: []Sealed{{8, 16, loose}, {24, 32, loose}}, lives: []func(*life){from(32, 32)},
			lost: []Range{{0, 8}, {16, 24}}, stop: 32, next: 32, live: []Range{{32, 32}}},
		{name: "the file above was on disk, and all below it", sealed: []Sealed{{8, 16, synced}},
			lost: []Range{{0, 8}}, missing: []Range{{0, 8}}, stop: 16, next: 16},
		{name: "the file below was on disk", sealed: []Sealed{{0, 8, synced}, {16, 24, loose}},
			lost: []Range{{8, 16}}, stop: 24, next: 24},
		{name: "the cursor proves a part", sealed: []Sealed{{8, 16, loose}}, cursor: 5,
			lost: []Range{{0, 8}}, missing: []Range{{0, 5}}, stop: 16, next: 16},
		{name: "the cursor proves all and more", sealed: []Sealed{{8, 16, loose}}, cursor: 18,
			lost: []Range{{0, 8}}, missing: []Range{{0, 8}, {16, 18}}, stop: 16, next: 16},
		{name: "a journal has what the file had", sealed: []Sealed{{8, 16, loose}}, lives: []func(*life){from(0, 8), from(16, 18)},
			stop: 18, next: 18, live: []Range{{0, 8}, {16, 18}}},
		{name: "a journal has a part of it", sealed: []Sealed{{8, 16, loose}}, lives: []func(*life){from(0, 5), from(16, 18)},
			lost: []Range{{5, 8}}, stop: 18, next: 18, live: []Range{{0, 5}, {16, 18}}},
		{name: "a journal between files", sealed: []Sealed{{16, 24, loose}}, lives: []func(*life){from(8, 16), from(24, 25)},
			lost: []Range{{0, 8}}, stop: 25, next: 25, live: []Range{{8, 16}, {24, 25}}},
		{name: "frames behind a tear below a file", sealed: []Sealed{{8, 16, loose}}, lives: []func(*life){from(0, 3, torn), from(16, 17)},
			lost: []Range{{3, 8}}, stop: 17, next: 17, live: []Range{{0, 3}, {16, 17}}},
		{name: "a batch whose end is gone below a file stays", sealed: []Sealed{{16, 24, loose}},
			lives: []func(*life){from(0, 6, func(l *life) { l.records(6, 2, true, 0) })},
			lost:  []Range{{8, 16}}, stop: 24, next: 24, live: []Range{{0, 8}}},
		{name: "a batch whose end is in a file stays", sealed: []Sealed{{8, 16, loose}},
			lives: []func(*life){from(0, 6, func(l *life) { l.records(6, 2, true, 0) })},
			stop:  16, next: 16, live: []Range{{0, 8}}},
		{name: "named already", sealed: []Sealed{{8, 16, loose}}, drops: Ranges{{0, 8}}, lives: []func(*life){from(16, 20)},
			stop: 20, next: 20, live: []Range{{16, 20}}},
		{name: "a part is named already", sealed: []Sealed{{8, 16, loose}}, drops: Ranges{{2, 4}},
			lost: []Range{{0, 2}, {4, 8}}, stop: 16, next: 16},
		{name: "the file above was retired", drops: Ranges{{8, 16}}, lost: []Range{{0, 8}}, stop: 16, next: 16},
		{name: "the file above was retired, and a journal goes on", drops: Ranges{{8, 16}}, lives: []func(*life){from(16, 20)},
			lost: []Range{{0, 8}}, stop: 20, next: 20, live: []Range{{16, 20}}},
		{name: "a retired range above a tear", drops: Ranges{{8, 16}}, lives: []func(*life){from(0, 3, torn)},
			lost: []Range{{3, 8}}, stop: 16, next: 16, live: []Range{{0, 3}}},
		{name: "nothing above: strays", lives: []func(*life){from(0, 8), from(16, 18)}, stop: 8, next: 18, live: []Range{{0, 8}}},
		{name: "nothing above, on Commit", lives: []func(*life){from(0, 8), from(16, 18)}, commit: true, stop: 8, next: 8, live: []Range{{0, 8}}},
		{name: "nothing above: a tear, and strays twice", lives: []func(*life){from(0, 3, torn), from(8, 10)},
			stop: 3, next: 10, live: []Range{{0, 3}}},
		{name: "nothing above: an empty journal leaves no number", lives: []func(*life){from(0, 3), from(8, 8)}, stop: 3, next: 3, live: []Range{{0, 3}}},
		{name: "nothing at all", stop: 0, next: 0},
		{name: "damage of what was on disk, on Commit", sealed: []Sealed{{0, 8, synced}},
			lives: []func(*life){from(8, 10, func(l *life) { l.skip(); l.records(11, 1, false, 11) })}, commit: true,
			missing: []Range{{10, 11}}, stop: 10, next: 10, live: []Range{{8, 10}}},
		{name: "a durable base above all", lives: []func(*life){func(l *life) { l.h.First, l.h.Base = 8, 8 }}, commit: true,
			missing: []Range{{0, 8}}},
	} {
		e := Evidence{Sealed: c.sealed, Drops: c.drops, Scans: ring(t, c.lives...), Cursor: c.cursor, Commit: c.commit}
		p := Recover(e)
		var live []Range
		for _, l := range p.Live {
			live = append(live, Range{l.First, l.End})
		}
		got := fmt.Sprint(p.Lost, p.Missing, p.Stop, p.Next, live)
		if want := fmt.Sprint(c.lost, c.missing, c.stop, c.next, c.live); got != want {
			t.Errorf("%s: lost, missing, stop, next, live are %s, want %s", c.name, got, want)
		}
		if again := judge(e); rulingOf(e) != again {
			t.Errorf("%s: %+v, want %+v", c.name, rulingOf(e), again)
		}
	}
}

// TestLossIsNamedBeforeASeal: a segment sealed by recovery says that all below
// it is on disk. With a hole below it that drops.json doesn't name yet, the
// stream would be refused for ever.
func TestLossIsNamedBeforeASeal(t *testing.T) {
	e := Evidence{Sealed: []Sealed{{8, 16, false}}, Scans: ring(t, from(16, 24))}
	p := Recover(e)
	if !slices.Equal(p.Lost, []Range{{0, 8}}) || len(p.Missing) > 0 {
		t.Fatalf("lost %v, missing %v", p.Lost, p.Missing)
	}
	resealed := e
	resealed.Sealed = []Sealed{{8, 16, false}, {16, 24, true}}
	if q := Recover(resealed); len(q.Missing) == 0 {
		t.Error("sealed first: the hole is not refused; this test has lost its point")
	}
	resealed.Drops = resealed.Drops.Add(0, 8)
	if q := Recover(resealed); len(q.Missing) > 0 || q.Next != p.Next {
		t.Errorf("named first: missing %v, next %d", q.Missing, q.Next)
	}
}

// TestCut: a batch whose end is missing is cut whole, in however many journals
// it stands.
func TestCut(t *testing.T) {
	more := func(count int) func(l *life) {
		return func(l *life) { l.records(l.h.First+8-uint64(count), count, true, 0) }
	}
	for _, c := range []struct {
		name   string
		sealed []Sealed
		lives  []func(l *life)
		stop   uint64
		cut    uint64
		live   int
	}{
		{"the next journal is not there", nil, []func(*life){from(0, 6, more(2))}, 6, 2, 1},
		{"the next journal is empty", nil, []func(*life){from(0, 6, more(2)), from(8, 8)}, 6, 2, 1},
		{"all of a journal", nil, []func(*life){from(0, 0, more(8)), from(8, 8)}, 0, 8, 0},
		{"two journals", nil, []func(*life){from(0, 3, more(5)), from(8, 8, more(8)), from(16, 16)}, 3, 13, 1},
		{"the first of two is sealed", []Sealed{{0, 8, true}}, []func(*life){from(0, 3, more(5)), from(8, 8, more(8))}, 8, 8, 1},
		{"whole", nil, []func(*life){from(0, 6, more(2)), from(8, 10)}, 10, 0, 2},
		{"whole, in three journals", nil, []func(*life){from(0, 6, more(2)), from(8, 8, more(8)), from(16, 17)}, 17, 0, 3},
	} {
		p := Recover(Evidence{Sealed: c.sealed, Scans: ring(t, c.lives...), Commit: true})
		if p.Stop != c.stop || p.Next != c.stop || p.Cut != c.cut || len(p.Live) != c.live || len(p.Missing) > 0 {
			t.Errorf("%s: stop %d, next %d, cut %d, live %v, missing %v, want %d, %d, %d live", c.name, p.Stop, p.Next, p.Cut, p.Live, p.Missing, c.stop, c.cut, c.live)
		}
		for _, x := range p.Pieces {
			if x.To > p.Stop {
				t.Errorf("%s: a piece up to %d is left", c.name, x.To)
			}
		}
	}
}

// TestRows: rows are asked for across pieces, and are whole or refused.
func TestRows(t *testing.T) {
	p := Recover(Evidence{Scans: ring(t, from(0, 8), from(8, 8, func(l *life) { l.records(8, 4, false, 0) }))})
	for from := range uint64(14) {
		for to := from; to < 14; to++ {
			rows, ok := p.Rows([]byte("x"), from, to)
			if want := to <= 12 || from == to; ok != want {
				t.Fatalf("Rows(%d, %d): %v", from, to, ok)
			}
			if ok && !slices.Equal(rows, append([]byte("x"), rowsOf(from, int(to-from), 16)...)) {
				t.Fatalf("Rows(%d, %d) = %x", from, to, rows)
			}
		}
	}
}
