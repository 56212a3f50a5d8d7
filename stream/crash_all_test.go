package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"example.com/ledger/internal/disk/sim"
)

// TestCrashEveryImage: a short life, in which every image that a power cut may
// leave at every operation is opened, where they are few enough to go through,
// and a sample of them where they are not.
func TestCrashEveryImage(t *testing.T) {
	const most = 1 << 9 // images of one instant that are gone through
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			images, all, instants := 0, 0, 0
			r := newRig(t, mode, 7, &images)
			r.depth = 0
			seen := make(map[uint64]bool)
			look := func(what string) {
				m := r.now(true)
				n := 1
				for _, versions := range r.d.Pending() {
					if n *= versions; n > most {
						break
					}
				}
				shots := func(yield func(*sim.Disk) bool) {
					for range 16 {
						if !yield(r.d.CutRandom(r.film, r.film.Float64())) {
							return
						}
					}
				}
				instants++
				if n <= most {
					all++
					shots = r.d.AllCuts()
				}
				for img := range shots {
					if sum := img.Sum(); !seen[sum] {
						seen[sum] = true
						r.shots = append(r.shots, shot{img, m, fmt.Sprint(what, ": power cut")})
					}
				}
			}
			r.d.SetHook(func(op sim.Op) error {
				if op.Kind.Changes() {
					r.camera.Lock()
					look(fmt.Sprint("before ", op))
					r.camera.Unlock()
				}
				return nil
			})
			s, err := CreateOn(r.d.FS(), crashDir, Options{Schema: r.h.sch, Capacity: 2, Durability: mode})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			r.s.Store(s)
			r.h.mu.Lock()
			r.h.created = true
			r.h.mu.Unlock()
			r.capacity = 2
			for _, n := range []int{1, 2, 3} {
				r.appendSome(n, false)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			r.s.Store(nil)
			r.d.SetHook(nil)
			for i := range r.shots {
				r.shots[i].m.later() // what was tried in the end may be there
			}
			r.develop()
			if images == 0 || all == 0 {
				t.Fatalf("%d images, and %d instants were gone through", images, all)
			}
			t.Logf("%d images; of %d instants %d were gone through", images, instants, all)
		})
	}
}
