package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// TestFillsLost: of the fills, a power loss may take what was not sealed. Here it
// takes all of them.
func TestFillsLost(t *testing.T) {
	dir, want := kept(t)
	if err := os.RemoveAll(filepath.Join(dir, "fills")); err != nil {
		t.Fatal(err)
	}
	out := program(t, exitFine, small(dir)...)
	if got := endState(t, out); got != want {
		t.Errorf("it comes to %s, before the loss to %s\n%s", got, want, out)
	}
}

// rewriteFills begins the journal of fills anew, with what change makes of them.
func rewriteFills(t *testing.T, dir string, change func([]shapes.Fill) []shapes.Fill) {
	t.Helper()
	j, err := openJournals(dir, flow.GeneratorScale)
	if err != nil {
		t.Fatal(err)
	}
	var fills []shapes.Fill
	if err := read(j.fills, false, func(f *shapes.Fill) error { fills = append(fills, *f); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(j.fillsDir()); err != nil {
		t.Fatal(err)
	}
	if j, err = openJournals(dir, flow.GeneratorScale); err != nil {
		t.Fatal(err)
	}
	typed, err := stream.Bind[shapes.Fill](j.fills)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := typed.Append(change(fills)); err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
}

// TestFillsLostInTheMiddle: a hole is filled at the journal's end, whatever order
// that leaves the fills in; and what is made again is found the next time.
func TestFillsLostInTheMiddle(t *testing.T) {
	dir, _ := kept(t)
	n := 0
	rewriteFills(t, dir, func(f []shapes.Fill) []shapes.Fill {
		n = len(f)
		return slices.Delete(f, n/3, n/2)
	})
	hole := n/2 - n/3
	out := program(t, exitFine, small(dir, "--keep", "0")...)
	if !strings.Contains(out, thousands(hole)+" that were missing") || !strings.Contains(out, thousands(n)+" fills and prints") {
		t.Errorf("%d of %d fills were missing:\n%s", hole, n, out)
	}
	out = program(t, exitFine, small(dir, "--keep", "0")...)
	if !strings.Contains(out, " 0 that were missing") {
		t.Errorf("nothing was missing any more:\n%s", out)
	}
}

// TestContradictions: what can't be the work of a kill is refused.
func TestContradictions(t *testing.T) {
	first := func(change func(*shapes.Fill)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			rewriteFills(t, dir, func(f []shapes.Fill) []shapes.Fill { change(&f[0]); return f })
		}
	}
	acks := func(change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "acks")
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(b), 0o640)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
		args   []string
		code   int
		want   string
	}{
		{"nothing", acks(slices.Clone[[]byte]), nil, exitFine, ""},
		{"an acknowledgement that was cut short", acks(func(b []byte) []byte { return b[:len(b)-1] }), nil,
			exitFine, "3,999, each in the journal"},
		{"no log of acknowledgements", acks(func([]byte) []byte { return nil }), nil, exitFine, "0, each in the journal"},
		{"an acknowledgement of something else", acks(func(b []byte) []byte { b[20] ^= 1; return b }), nil,
			exitDamage, "order 0 was acknowledged as"},
		{"an acknowledgement too many", acks(func(b []byte) []byte { return append(b, b[:ackSize]...) }), nil,
			exitDamage, "4001 orders were acknowledged, and the journal has 4000"},
		{"a fill at another price", first(func(f *shapes.Fill) { f.Px++ }), nil, exitDamage, "fill 0: the journal has"},
		{"a fill of another size", first(func(f *shapes.Fill) { f.Qty++ }), nil, exitDamage, "fill 0: the journal has"},
		{"a fill that no order makes", first(func(f *shapes.Fill) { f.Taker = 3999 }), nil, exitDamage, "fill 0: no order makes it"},
		{"a fill that is there twice", func(t *testing.T, dir string) {
			rewriteFills(t, dir, func(f []shapes.Fill) []shapes.Fill { return append(f, f[0]) })
		}, nil, exitDamage, "have met before"},
		{"another seed", nil, []string{"--seed", "6"}, exitFailed, "another input or seed"},
		{"a shorter day", nil, []string{"--orders", "3999"}, exitFailed, "give --orders as before"},
		{"another kind of input", nil, []string{"--date", "2026-01-06"}, exitFailed, "another input or seed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := kept(t)
			if tc.change != nil {
				tc.change(t, dir)
			}
			out := program(t, tc.code, append(small(dir), tc.args...)...)
			if !strings.Contains(out, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, out)
			}
		})
	}
}

// TestLockedOut: a second exchange in the same directory is refused.
func TestLockedOut(t *testing.T) {
	dir, _ := kept(t)
	j, err := openJournals(dir, flow.GeneratorScale)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if out := program(t, exitFailed, small(dir)...); !strings.Contains(out, "locked") {
		t.Errorf("it says\n%s", out)
	}
}

// TestDamagedJournal: a changed bit in a sealed file ends with the exit code for
// damage, and with the file's name.
func TestDamagedJournal(t *testing.T) {
	dir, _ := kept(t)
	path := filepath.Join(dir, "orders", "00000000000000000000.seg")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[1000] ^= 4
	if err := os.WriteFile(path, b, 0o640); err != nil {
		t.Fatal(err)
	}
	if out := program(t, exitDamage, small(dir)...); !strings.Contains(out, filepath.Base(path)) {
		t.Errorf("it says\n%s", out)
	}
}
