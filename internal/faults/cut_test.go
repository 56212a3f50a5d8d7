//go:build unix

package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/journal"
	"example.com/ledger/stream"
)

// TestCutUnderWriter cuts files short that the writer has mapped: what the
// engine itself then stores (the durable cursor, headers at a roll, marks) gives
// an error and poisons, and the process lives. Reading goes on.
func TestCutUnderWriter(t *testing.T) {
	for _, mode := range modes {
		for _, c := range []struct {
			name string
			cut  func(t *testing.T, dir string)
			next func(s *stream.Stream) error
			or   bool // or the mode doesn't store there
		}{
			{"the cursors page", cutFile("cursors"), (*stream.Stream).Sync, false},
			{"the journals, then a mark", cutJournals(true), (*stream.Stream).Sync, mode == stream.Commit},
			{"the other journals, then rolls", cutJournals(false), fillOn, mode == stream.Commit},
		} {
			t.Run(fmt.Sprintf("%v/%s", mode, c.name), func(t *testing.T) {
				dir := filepath.Join(scratch(t), "s")
				s, err := stream.Create(dir, stream.Options{Schema: Schema(), Capacity: Capacity, Durability: mode})
				check(t, err)
				fill(t, s, 3, 7, 7, 7)
				check(t, s.Seal())
				fill(t, s, 2)
				c.cut(t, dir)
				if mode == stream.Commit { // something to sync, and no sync of it before the cut
					_, _, err = s.AppendAsync(Batch(26, 1))
					check(t, err)
				}
				err = c.next(s)
				if !errors.Is(err, stream.ErrPoisoned) && !(c.or && err == nil) {
					t.Errorf("%v, want ErrPoisoned", err)
				}
				n, err := s.Snapshot()
				check(t, err)
				if err := Read(n, false, nil); err != nil || n.End() < 26 {
					t.Errorf("reading to %d: %v", n.End(), err)
				}
				check(t, n.Close())
				_ = s.Close()
				if s, err = stream.Open(dir, stream.OpenOptions{}); err == nil {
					err = s.Close()
				}
				if err != nil && !errors.Is(err, stream.ErrCorrupt) {
					t.Errorf("open: %v", err)
				}
			})
		}
	}
}

func cutFile(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { check(t, os.Truncate(filepath.Join(dir, name), 0)) }
}

// cutJournals cuts the newest journal, or all others, to nothing.
func cutJournals(newest bool) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		best, gen := "", uint64(0)
		var all []string
		for n := range journal.Ring {
			path := filepath.Join(dir, journal.Name(n))
			b, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			all = append(all, path)
			if h, ok, _ := journal.DecodeHeaders(b); ok && h.Generation > gen {
				best, gen = path, h.Generation
			}
		}
		for _, path := range all {
			if (path == best) == newest {
				check(t, os.Truncate(path, 0))
			}
		}
	}
}

// fillOn appends over rolls until an append fails.
func fillOn(s *stream.Stream) error {
	for range 20 {
		end := s.Cursors().Appended
		if _, _, err := s.AppendAt(end, Batch(uint64(end), 2)); err != nil {
			return err
		}
	}
	return nil
}

// TestCutUnderProcess cuts any file of a writing process short. It may end as by
// kill -9, where an append itself stores into what is not there any more. What is
// left opens with all that was durable, or an error names what was cut.
func TestCutUnderProcess(t *testing.T) {
	opened, refused := 0, 0
	for i := range sample(6, 120) {
		mode := modes[i%len(modes)]
		rng := rand.New(rand.NewPCG(*seed, 900+uint64(i)))
		dir := filepath.Join(scratch(t), "s")
		told := &Told{}
		lines, at := 0, 20+rng.IntN(60)
		cmd := victim(t, "-run=loop", fmt.Sprint("-seed=", i), "-dir="+dir, "-mode="+mode.String())
		cut := ""
		told.hear(t, cmd, mode, func(string) {
			switch lines++; lines {
			case at:
				entries, err := os.ReadDir(dir)
				check(t, err)
				e := entries[rng.IntN(len(entries))]
				if i%2 == 0 { // the rarer kinds, too
					e = entries[len(entries)-1-rng.IntN(min(6, len(entries)))]
				}
				if cut = e.Name(); e.Type().IsRegular() && cut != "stream.json" {
					if info, err := e.Info(); err == nil {
						_ = os.Truncate(filepath.Join(dir, cut), rng.Int64N(info.Size()+1)) // it may be gone
					}
				}
			case at + 40:
				_ = cmd.Process.Kill()
			}
		})
		told.Bugs = nil // reopening may rightly find the damage
		s, err := stream.Open(dir, stream.OpenOptions{})
		switch {
		case err == nil:
			opened++
			// What was never synced, nothing proves: it may be taken for torn, or named
			// as lost.
			if err := (audit{dir: dir, mode: mode, told: told, power: true}).compare(s, uint64(s.Cursors().Appended)); err != nil && !errors.Is(err, stream.ErrCorrupt) {
				t.Errorf("%s cut, %v: %v\n%v", cut, mode, err, told)
			}
			check(t, s.Close())
		case errors.Is(err, stream.ErrCorrupt) && named(err):
			refused++
		default:
			t.Errorf("%s cut, %v: %v", cut, mode, err)
		}
	}
	t.Logf("%d opened, %d refused", opened, refused)
	if opened == 0 {
		t.Error("the test saw too little")
	}
}
