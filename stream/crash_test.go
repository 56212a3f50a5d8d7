package stream

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// The crash tests run the engine on a model disk, make images of the disk at
// every operation, and open each image as the next process would. -crash.runs
// and -crash.seed make long runs and replay one.
var (
	crashRuns = flag.Int("crash.runs", 0, "random lives of a stream for each mode; 0 means a few")
	crashSeed = flag.Uint64("crash.seed", 1, "seed of the first life")
)

const crashDir = "/r/s"

// A history is what a test has asked of a stream, so far.
type history struct {
	sch *schema.Schema

	mu       sync.Mutex
	recs     map[uint64][]byte // by number, as appended; also those still under way
	batches  map[uint64][2]uint64
	durable  uint64          // the records below survive power loss: acknowledged in Commit mode, or the cursor said so
	returned uint64          // an append returned: the records below survive a kill
	lost     map[uint64]bool // an earlier recovery has named them as lost
	retained uint64          // retention was asked to drop below
	created  bool            // Create returned
}

// a moment is a history at the time of an image, and what the image is of.
type moment struct {
	h        *history
	mode     Durability
	power    bool
	lower    uint64 // these must be there
	upper    map[uint64][]byte
	batches  map[uint64][2]uint64
	retained uint64
	created  bool
	lost     map[uint64]bool
}

func (h *history) attempt(first uint64, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.sch.Width()
	n := uint64(len(b) / w)
	for i := range n {
		r := bytes.Clone(b[i*uint64(w) : (i+1)*uint64(w)])
		schema.PutSeq(r, first+i)
		h.sch.ClearPadding(r)
		h.recs[first+i] = r
		h.batches[first+i] = [2]uint64{first, first + n}
	}
}

// restart forgets what a recovery has cut.
func (h *history) restart(found map[uint64][]byte, next uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for seq, b := range h.batches {
		if _, ok := found[seq]; !ok {
			delete(h.recs, seq)
			delete(h.batches, seq)
			continue
		}
		// A power loss may have torn it, but on a Commit stream, where that was checked.
		h.batches[seq] = [2]uint64{b[0], min(b[1], next)}
	}
	h.returned, h.durable = next, next
	lost := maps.Clone(h.lost)
	if lost == nil {
		lost = make(map[uint64]bool)
	}
	for seq := range next {
		if _, ok := found[seq]; !ok { // or retained: then drops.json says so
			lost[seq] = true
		}
	}
	h.lost = lost
}

// A rig is one life of a stream on a model disk, and the images made of it.
type rig struct {
	t      *testing.T
	rng    *rand.Rand
	d      *sim.Disk
	h      *history
	mode   Durability
	s      atomic.Pointer[Stream]
	id     int
	images *int

	capacity int // of the stream now
	every    int // one operation in every makes images
	depth    int // of crashes in recovery
	trail    []string

	storing sync.Mutex // held while an append may store into a mapping

	camera sync.Mutex // for shoot
	film   *rand.Rand
	shots  []shot
}

func (r *rig) fail(format string, a ...any) {
	r.t.Helper()
	r.t.Fatalf("mode %v: %s\n%s", r.mode, fmt.Sprintf(format, a...), strings.Join(r.trail, "\n"))
}

// now takes down what an image of this instant must hold. It is called before
// the image is made; upper is filled in afterwards, by later.
func (r *rig) now(power bool) moment {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := r.s.Load(); s != nil {
		h.durable = max(h.durable, uint64(s.Cursors().Durable))
	}
	m := moment{h: h, mode: r.mode, power: power, lower: h.returned, retained: h.retained, created: h.created, lost: h.lost}
	if power {
		m.lower = h.durable
	}
	return m
}

// settled takes down that all that was appended is durable.
func (h *history) settled() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.durable = h.returned
}

func (m *moment) later() {
	m.h.mu.Lock()
	defer m.h.mu.Unlock()
	m.upper = maps.Clone(m.h.recs)
	m.batches = maps.Clone(m.h.batches)
	m.retained = max(m.retained, m.h.retained)
}

// A shot is an image that is still to be checked.
type shot struct {
	img  *sim.Disk
	m    moment
	what string
}

// shoot makes images of the disk as it is, in whatever goroutine it is called.
// A kill leaves what was stored, in the order of the stores: its image can only
// be made while nobody stores into a mapping. A power cut may leave any of it.
func (r *rig) shoot(what string) {
	r.camera.Lock()
	defer r.camera.Unlock()
	if r.storing.TryLock() {
		m := r.now(false)
		img := r.d.Kill()
		m.later()
		r.storing.Unlock()
		r.shots = append(r.shots, shot{img, m, what + ": kill"})
	}
	for _, keep := range []float64{0, 0.5, 1} {
		m := r.now(true)
		img := r.d.CutRandom(r.film, keep)
		m.later()
		r.shots = append(r.shots, shot{img, m, fmt.Sprintf("%s: power cut, keep %v", what, keep)})
	}
}

// develop checks the images made so far.
func (r *rig) develop() {
	r.camera.Lock()
	shots := r.shots
	r.shots = nil
	r.camera.Unlock()
	for _, x := range shots {
		*r.images++
		r.check(x.img, x.m, r.depth, x.what)
	}
}

// check opens an image as the next process would, compares it with what it must
// and may hold, appends, and opens it once more.
func (r *rig) check(img *sim.Disk, m moment, depth int, what string) {
	r.t.Helper()
	if depth > 0 {
		r.crashInOpen(img, m, depth, what)
	}
	s, err := OpenOn(img.FS(), crashDir, OpenOptions{})
	if err != nil {
		if !m.created && (errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist)) {
			return
		}
		r.fail("%s: open: %v\n%v", what, err, img)
	}
	next := r.compare(s, m, what)
	// A stream that was recovered works, and what it holds then survives power loss.
	b := recs(r.h.sch, 77, 2)
	if first, _, err := s.Append(b); err != nil || uint64(first) != next {
		r.fail("%s: append after recovery: %d, %v; want %d", what, first, err, next)
	}
	if err := s.Sync(); err != nil {
		r.fail("%s: sync after recovery: %v", what, err)
	}
	cut := img.CutRandom(r.rng, 0)
	if err := s.Close(); err != nil {
		r.fail("%s: close after recovery: %v", what, err)
	}
	again, err := OpenOn(cut.FS(), crashDir, OpenOptions{})
	if err != nil {
		r.fail("%s: second open: %v", what, err)
	}
	defer again.Close()
	n := must[*Snapshot](r.t)(again.Snapshot())
	defer n.Close()
	if uint64(n.End()) != next+2 {
		r.fail("%s: second open ends at %d, want %d", what, n.End(), next+2)
	}
	got, err := n.Get(nil, Seq(next+1))
	if err != nil || !bytes.Equal(got, b[r.h.sch.Width():2*r.h.sch.Width()]) {
		r.fail("%s: second open: record %d is %x, %v", what, next+1, got, err)
	}
}

// crashInOpen crashes the recovery of an image at some of its operations.
func (r *rig) crashInOpen(img *sim.Disk, m moment, depth int, what string) {
	trial := img.Kill()
	var n atomic.Int64 // behind Open, several goroutines work
	at := int64(r.rng.IntN(12))
	trial.SetHook(func(op sim.Op) error {
		if !op.Kind.Changes() {
			return nil
		}
		if n.Add(1)-1 != at {
			return nil
		}
		return sim.ErrCrashed
	})
	s, err := OpenOn(trial.FS(), crashDir, OpenOptions{})
	if err == nil {
		trial.Crash()
		_ = s.Close()
	}
	trial.SetHook(nil)
	*r.images++
	what = fmt.Sprintf("%s; open crashed at change %d", what, at)
	if !m.power {
		r.check(trial.Kill(), m, depth-1, what+": kill")
		return
	}
	keep := r.rng.Float64()
	r.check(trial.CutRandom(r.rng, keep), m, depth-1, fmt.Sprintf("%s: power cut, keep %.2f", what, keep))
}

// compare checks what an opened image holds. It returns the next number.
func (r *rig) compare(s *Stream, m moment, what string) uint64 {
	r.t.Helper()
	n, err := s.Snapshot()
	if err != nil {
		r.fail("%s: snapshot: %v", what, err)
	}
	defer n.Close()
	found := make(map[uint64][]byte)
	w := r.h.sch.Width()
	for b, err := range n.Range(0, n.End()) {
		var gone *DroppedError
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			r.fail("%s: read: %v; report %+v", what, err, s.Report())
		}
		rows, err := b.Rows(nil)
		if err != nil {
			r.fail("%s: read: %v", what, err)
		}
		for i := range b.Len() {
			found[uint64(b.First())+uint64(i)] = rows[i*w : (i+1)*w]
		}
	}
	for seq, got := range found {
		if want, ok := m.upper[seq]; !ok || !bytes.Equal(got, want) {
			r.fail("%s: record %d is %x, want %x; report %+v", what, seq, got, want, s.Report())
		}
	}
	for seq := range uint64(n.End()) {
		if _, ok := found[seq]; ok {
			continue
		}
		reason := ""
		for _, d := range n.Dropped() {
			if uint64(d.From) <= seq && seq < uint64(d.To) {
				reason = d.Reason
			}
		}
		switch {
		case reason == "":
			r.fail("%s: record %d is not there and nothing says why", what, seq)
		case strings.HasPrefix(reason, meta.ReasonRetention) && seq < m.retained:
		case reason == meta.ReasonLoss && r.mode != Commit && (m.lost[seq] || m.power && seq >= m.lower):
		default:
			r.fail("%s: record %d is gone: %s; report %+v", what, seq, reason, s.Report())
		}
	}
	if uint64(n.End()) < m.lower {
		r.fail("%s: ends at %d, but the records below %d were acknowledged; report %+v", what, n.End(), m.lower, s.Report())
	}
	if r.mode == Commit || !m.power {
		for seq := range found {
			b := m.batches[seq]
			for q := b[0]; q < b[1]; q++ {
				if _, ok := found[q]; !ok && q >= m.retained && !m.lost[q] {
					r.fail("%s: batch [%d, %d) is torn: %d is there, %d is not; report %+v", what, b[0], b[1], seq, q, s.Report())
				}
			}
		}
	}
	return uint64(n.End())
}

// hook makes images before one operation in every.
func (r *rig) hook() func(sim.Op) error {
	return func(op sim.Op) error {
		if op.Kind.Changes() && r.due() {
			r.shoot(fmt.Sprint("before ", op))
		}
		return nil
	}
}

func (r *rig) due() bool {
	r.camera.Lock()
	defer r.camera.Unlock()
	return r.film.IntN(r.every) == 0
}

func newRig(t *testing.T, mode Durability, seed uint64, images *int) *rig {
	sch := small(t)
	d := sim.New()
	if err := d.FS().Mkdir("/r"); err != nil {
		t.Fatal(err)
	}
	if err := d.FS().SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	h := &history{sch: sch, recs: map[uint64][]byte{}, batches: map[uint64][2]uint64{}}
	return &rig{t: t, rng: rand.New(rand.NewPCG(seed, 99)), film: rand.New(rand.NewPCG(seed, 98)), d: d, h: h, mode: mode, images: images, every: 4, depth: 2}
}

// live runs a random life: appends of all sizes, seals, syncs, retention, close
// and reopen, with images of it all.
func (r *rig) live(steps int) {
	capacity := 1 + r.rng.IntN(5)
	r.d.SetHook(r.hook())
	s, err := CreateOn(r.d.FS(), crashDir, Options{Schema: r.h.sch, Capacity: capacity, Durability: r.mode})
	if err != nil {
		r.fail("create: %v", err)
	}
	r.s.Store(s)
	r.h.mu.Lock()
	r.h.created = true
	r.h.mu.Unlock()
	r.capacity = capacity
	for range steps {
		r.step(r.capacity)
	}
	if err := r.s.Load().Close(); err != nil {
		r.fail("close: %v", err)
	}
	r.s.Store(nil)
	r.d.SetHook(nil)
	r.shoot("closed")
	r.develop()
}

func (r *rig) step(capacity int) {
	defer r.develop()
	switch k := r.rng.IntN(12); {
	case k < 7:
		r.appendSome(1+r.rng.IntN(2*capacity), k < 2)
	case k == 7:
		r.note("seal")
		if err := r.s.Load().Seal(); err != nil {
			r.fail("seal: %v", err)
		}
		if r.mode != Os {
			r.h.settled()
		}
	case k == 8:
		r.note("sync")
		if err := r.s.Load().Sync(); err != nil {
			r.fail("sync: %v", err)
		}
		r.h.settled()
	case k == 9:
		to := uint64(r.s.Load().Cursors().Published)
		to -= min(to, uint64(r.rng.IntN(4)))
		r.note(fmt.Sprint("retain before ", to))
		r.h.mu.Lock()
		r.h.retained = max(r.h.retained, to)
		r.h.mu.Unlock()
		if _, err := r.s.Load().Retain(retention.Policy{BeforeSeq: to}, false); err != nil {
			r.fail("retain: %v", err)
		}
	case k == 10 && r.rng.IntN(3) == 0:
		c := 1 + r.rng.IntN(5)
		r.note(fmt.Sprint("alter capacity to ", c))
		old := r.s.Load()
		r.s.Store(nil)
		if err := old.Close(); err != nil {
			r.fail("close: %v", err)
		}
		if _, err := AlterOn(r.d.FS(), crashDir, Change{Capacity: &c}, OpenOptions{}); err != nil {
			r.fail("alter: %v", err)
		}
		r.h.settled()
		s, err := OpenOn(r.d.FS(), crashDir, OpenOptions{})
		if err != nil {
			r.fail("open: %v", err)
		}
		r.capacity = c
		r.s.Store(s)
	case k == 10:
		r.note("close and open")
		old := r.s.Load()
		r.s.Store(nil)
		if err := old.Close(); err != nil {
			r.fail("close: %v", err)
		}
		r.h.settled()
		s, err := OpenOn(r.d.FS(), crashDir, OpenOptions{})
		if err != nil {
			r.fail("open: %v", err)
		}
		r.s.Store(s)
	default:
		r.crash()
	}
}

func (r *rig) note(s string) { r.trail = append(r.trail, s) }

func (r *rig) appendSome(n int, async bool) {
	r.id++
	b := recs(r.h.sch, r.id, n)
	first := uint64(r.s.Load().Cursors().Appended)
	r.note(fmt.Sprintf("append %d at %d, async %v", n, first, async))
	r.h.attempt(first, b)
	put := r.s.Load().Append
	if async {
		put = r.s.Load().AppendAsync
	}
	if r.mode != Commit {
		r.storing.Lock()
	}
	got, k, err := put(b)
	if r.mode != Commit {
		r.storing.Unlock()
	}
	if err != nil || k != n || uint64(got) != first {
		r.fail("append of %d at %d: %d, %d, %v", n, first, got, k, err)
	}
	r.d.Notice() // stores into a mapping are versions of their own
	r.h.mu.Lock()
	r.h.returned = first + uint64(n)
	if !async && r.mode == Commit {
		r.h.durable = first + uint64(n)
	}
	r.h.mu.Unlock()
	if r.mode != Commit && r.rng.IntN(3) == 0 {
		r.shoot("between stores")
	}
}

// crash ends the process, or the power, and goes on with what is left.
func (r *rig) crash() {
	power := r.rng.IntN(2) == 0
	r.d.SetHook(nil)
	m := r.now(power)
	r.d.Crash()
	m.later()
	_ = r.s.Load().Close() // of a dead process: fails, and changes nothing
	r.s.Store(nil)
	if power {
		keep := r.rng.Float64()
		r.note(fmt.Sprintf("power cut, keep %.2f", keep))
		r.d = r.d.CutRandom(r.rng, keep)
	} else {
		r.note("kill")
		r.d = r.d.Kill()
	}
	*r.images++
	s, err := OpenOn(r.d.FS(), crashDir, OpenOptions{})
	if err != nil {
		r.fail("open: %v\n%v", err, r.d)
	}
	next := r.compare(s, m, "going on")
	found := make(map[uint64][]byte)
	n := must[*Snapshot](r.t)(s.Snapshot())
	for b, err := range n.Range(0, n.End()) {
		if err == nil {
			for q := b.First(); q < b.End(); q++ {
				found[uint64(q)] = nil
			}
		}
	}
	n.Close()
	r.h.restart(found, next)
	r.note(fmt.Sprintf("opened: %+v", s.Report()))
	r.s.Store(s)
	r.d.SetHook(r.hook())
}

// TestCrashImages: whatever a kill or a power cut leaves, recovery returns whole
// batches, all that was acknowledged, nothing that was never appended; a
// stream that was recovered works; and recovery can crash, too.
func TestCrashImages(t *testing.T) {
	runs := *crashRuns
	if runs == 0 {
		runs = 2
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			images := 0
			for i := range runs {
				seed := *crashSeed + uint64(i)
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					newRig(t, mode, seed, &images).live(30)
				})
			}
			if images == 0 {
				t.Fatal("the test made no images")
			}
			t.Logf("%d images", images)
		})
	}
}
