package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"example.com/ledger/internal/disk/sim"
)

// TestAppendOnce: the same number again returns the first answer.
func TestAppendOnce(t *testing.T) {
	sch := small(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			o := Options{Schema: sch, Capacity: 200, Durability: mode}
			s := must[*Stream](t)(Create(dir, o))
			a, b := ProducerID{1}, ProducerID{2}
			once := func(id ProducerID, number uint64, content, n int, want Seq) {
				t.Helper()
				first, k, err := s.AppendOnce(id, number, recs(sch, content, n))
				if err != nil || first != want || k != n {
					t.Fatalf("AppendOnce(%v, %d) = %d, %d, %v; want %d, %d", id[0], number, first, k, err, want, n)
				}
			}
			once(a, 1, 1, 3, 0)
			once(b, 1, 2, 2, 3)
			once(a, 1, 1, 3, 0)
			once(a, 5, 5, 250, 5) // crosses a roll
			once(a, 5, 5, 250, 5)
			if _, _, err := s.AppendOnce(a, 5, recs(sch, 6, 250)); !errors.Is(err, ErrProducer) {
				t.Fatalf("the same number with other records: %v, want ErrProducer", err)
			}
			if _, _, err := s.AppendOnce(a, 4, recs(sch, 6, 1)); !errors.Is(err, ErrProducerWindow) {
				t.Fatalf("an older number: %v, want ErrProducerWindow", err)
			}
			for round := range 3 { // over Close and Open, with and without something in memory
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = must[*Stream](t)(Open(dir, OpenOptions{}))
				once(a, 5, 5, 250, 5)
				once(b, 1, 2, 2, 3)
				if round == 1 {
					if err := s.Seal(); err != nil {
						t.Fatal(err)
					}
				}
			}
			once(b, 2, 9, 1, 255)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tiny := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "t"), Options{Schema: sch, Capacity: 4}))
			defer tiny.Close()
			if _, _, err := tiny.AppendOnce(a, 1, recs(sch, 1, 1)); !errors.Is(err, ErrOption) {
				t.Fatalf("on a tiny stream: %v, want ErrOption", err)
			}
		})
	}
}

// TestAppendOnceWindow: the window forgets the oldest batches and refuses what
// it can't tell; journals of all sizes take the table.
func TestAppendOnceWindow(t *testing.T) {
	sch := small(t)
	for _, capacity := range []int{154, 300, 1000} {
		s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: sch, Capacity: capacity, Durability: Os}))
		window := s.producers.size
		id := ProducerID{7}
		total := 3*window + 10
		for i := range total {
			if first, _, err := s.AppendOnce(id, uint64(i+1), recs(sch, i, 1+i%3)); err != nil || uint64(first) != uint64(i/3*6+[]int{0, 1, 3}[i%3]) {
				t.Fatalf("capacity %d, batch %d: %d, %v", capacity, i, first, err)
			}
		}
		for i := range total {
			_, _, err := s.AppendOnce(id, uint64(i+1), recs(sch, i, 1+i%3))
			if old := i < total-window; old != errors.Is(err, ErrProducerWindow) || !old && err != nil {
				t.Fatalf("capacity %d, window %d: batch %d of %d again: %v", capacity, window, i, total, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAppendOnceRace: callers that send the same batch at the same time get the
// same answer, and it is appended once, however far one of them lags behind.
func TestAppendOnceRace(t *testing.T) {
	const producers, numbers, n = 2, 60, 50
	sch := small(t)
	s := must[*Stream](t)(Create(filepath.Join(t.TempDir(), "s"), Options{Schema: sch, Capacity: 1300}))
	defer s.Close()
	if s.producers.size < producers*numbers {
		t.Fatalf("the window has %d batches, and a caller may lag behind by %d", s.producers.size, producers*numbers)
	}
	var answers [2 * producers][numbers]Seq
	var wg sync.WaitGroup
	for g := range answers {
		wg.Go(func() {
			for i := range numbers {
				first, k, err := s.AppendOnce(ProducerID{byte(g % producers)}, uint64(i+1), recs(sch, i+1, n))
				if err != nil || k != n {
					t.Errorf("number %d: %d, %v", i+1, k, err)
				}
				answers[g][i] = first
			}
		})
	}
	wg.Wait()
	for g := range producers {
		if answers[g] != answers[g+producers] {
			t.Errorf("producer %d: one caller was told %v, the other %v", g, answers[g], answers[g+producers])
		}
	}
	if got := s.Cursors().Appended; got != producers*numbers*n {
		t.Fatalf("%d records were appended, want %d", got, producers*numbers*n)
	}
	if st := must[Stats](t)(s.Stats()); st.Rolls < 4 {
		t.Errorf("%d rolls: too few", st.Rolls)
	}
}

// TestAppendOnceCrash: after a kill or a power cut a producer sends its last
// batches again: what was acknowledged is not appended twice, and what wasn't is
// there once.
func TestAppendOnceCrash(t *testing.T) {
	sch := small(t)
	images := 0
	for _, mode := range modes {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 5))
			d := sim.New()
			s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 160, Durability: mode}))
			number := uint64(0)
			for round := range 12 {
				for range rng.IntN(20) {
					number++
					if _, _, err := s.AppendOnce(ProducerID{9}, number, recs(sch, int(number), 1+int(number)%40)); err != nil {
						t.Fatal(err)
					}
				}
				power := mode == Commit && round%2 == 0
				d.Crash()
				_ = s.Close() // of a dead process
				if power {
					d = d.CutRandom(rng, rng.Float64())
				} else {
					d = d.Kill()
				}
				images++
				s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
				before := s.Cursors().Appended
				for again := number - min(number, 5) + 1; again <= number; again++ {
					first, n, err := s.AppendOnce(ProducerID{9}, again, recs(sch, int(again), 1+int(again)%40))
					if err != nil || n != 1+int(again)%40 || first >= before {
						t.Fatalf("%v seed %d round %d: batch %d again: %d, %d, %v; the stream ended at %d; %+v", mode, seed, round, again, first, n, err, before, s.Report())
					}
					v := must[*Snapshot](t)(s.Snapshot())
					got, err := v.Get(nil, first)
					want := recs(sch, int(again), 1)
					if v.Close(); err != nil || !bytes.Equal(got[8:21], want[8:21]) {
						t.Fatalf("%v seed %d: batch %d is said to begin at %d, where %x stands (%v)", mode, seed, again, first, got, err)
					}
				}
				if after := s.Cursors().Appended; after != before {
					t.Fatalf("%v seed %d round %d: sending again appended [%d, %d)", mode, seed, round, before, after)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if images == 0 {
		t.Fatal(fmt.Errorf("no images"))
	}
}
