package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ledger/verify"
)

func TestStreamsAreClean(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.String(), func(t *testing.T) {
			dir, rows := k.make(t)
			before := tree(dir)
			r := clean(t, dir)
			if got, want := r.Records, uint64(len(rows)/fields(t).Width()-k.retained); got != want {
				t.Errorf("%d records, want %d", got, want)
			}
			if r.Bytes == 0 || r.Journals == 0 {
				t.Errorf("nothing seen: %+v", r)
			}
			for name, b := range tree(dir) {
				if before[name] != b {
					t.Errorf("verify changed %s", name)
				}
			}
		})
	}
}

// TestInspectTilesFiles: the ranges of each file follow each other without gap,
// end with the file, and none of a good file is bad.
func TestInspectTilesFiles(t *testing.T) {
	for _, k := range kinds() {
		dir, _ := k.make(t)
		for name := range tree(dir) {
			l := must(verify.Inspect(filepath.Join(dir, name)))
			tiles(t, name, l)
			if !l.OK() {
				t.Errorf("%v: %s is bad: %+v", k, name, l.Ranges)
			}
			for _, r := range l.Ranges {
				if (r.Class == verify.Free) != (r.Check == verify.None) {
					t.Errorf("%v: %s: %s is %s and checked %s", k, name, r.Meaning, r.Class, r.Check)
				}
			}
		}
	}
}

func tiles(t testing.TB, name string, l *verify.Layout) {
	t.Helper()
	at := int64(0)
	for _, r := range l.Ranges {
		if r.Offset != at || r.Length < 0 {
			t.Fatalf("%s: range %+v, want one at %d", name, r, at)
		}
		at += r.Length
	}
	if at != l.Size {
		t.Fatalf("%s: ranges end at %d of %d", name, at, l.Size)
	}
}

// TestEveryFlippedBitIsFound: in each file of each kind of stream, a flipped bit
// in any byte that Inspect calls data or meta is a problem in that file; and one
// in a free byte changes no record.
func TestEveryFlippedBitIsFound(t *testing.T) {
	var flips atomic.Int64
	t.Run("kinds", func(t *testing.T) {
		for _, k := range kinds() {
			t.Run(k.String(), func(t *testing.T) {
				t.Parallel()
				dir, _ := k.make(t)
				m := load(dir)
				last := ""
				for name := range m {
					if strings.HasSuffix(name, ".seg") {
						last = max(last, name)
					}
				}
				for name := range m {
					if strings.HasSuffix(name, ".seg") && name != last {
						continue // one of them is as good as all
					}
					flips.Add(int64(flipAll(t, k, m, name)))
				}
			})
		}
	})
	if flips.Load() < 10_000 {
		t.Fatalf("only %d bits were flipped", flips.Load())
	}
}

func flipAll(t *testing.T, k kind, m memory, name string) (flips int) {
	for _, r := range must(verify.InspectOn(m, filepath.Join("s", name))).Ranges {
		step := int64(1)
		if r.Class == verify.Free {
			step = max(1, r.Length/5)
		}
		for off := r.Offset; off < r.Offset+r.Length; off += step {
			bit := byte(1) << (off % 8)
			m[name][off] ^= bit
			rep := look(t, m)
			m[name][off] ^= bit
			flips++
			switch {
			case r.Class == verify.Free && !rep.OK:
				t.Errorf("%s: byte %d (%s) is free, but:\n%s", name, off, r.Meaning, text(rep))
			case r.Class != verify.Free && rep.OK && !k.unproven(name, r):
				t.Errorf("%s: a bit of byte %d (%s, %s) flipped, and nothing found", name, off, r.Meaning, r.Class)
			case r.Class != verify.Free && !rep.OK && !slices.ContainsFunc(rep.Problems, func(p verify.Problem) bool { return p.File == name }):
				t.Errorf("%s: a bit of byte %d flipped, and no problem names the file:\n%s", name, off, text(rep))
			}
		}
	}
	return flips
}
