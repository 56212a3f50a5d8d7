package stream

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
)

var nthAll = flag.Bool("nth.all", false, "each operation with each error, once and from then on, before, in its middle and after; else a part of these")

// A failing is one run of nthLife with a fault: operation n fails, once or with
// all that follow.
type failing struct {
	mode   Durability
	n      int
	errno  syscall.Errno
	sticky bool
	how    string // "before", "short" or "late"
}

func (f failing) String() string {
	times := "once"
	if f.sticky {
		times = "from then on"
	}
	return fmt.Sprintf("%v: operation %d fails with %v, %s, %s", f.mode, f.n, f.errno, times, f.how)
}

// hook fails the operations, and counts how many.
func (f failing) hook(failed *atomic.Int64) func(sim.Op) error {
	return func(op sim.Op) error {
		if op.N != f.n && (!f.sticky || op.N < f.n) {
			return nil
		}
		failed.Add(1)
		switch {
		case f.how == "short" && op.Kind == sim.OpWrite:
			return &sim.ShortWrite{N: op.Len / 2, Err: f.errno}
		case f.how == "late" && op.Kind.Changes():
			return &sim.Late{Err: f.errno}
		}
		return f.errno
	}
}

// An nthLife is a life of a stream whose disk fails: all is tried, whatever
// fails, and it remembers what was acknowledged.
type nthLife struct {
	d        *sim.Disk
	mode     Durability
	s        *Stream
	acked    uint64 // all below was acknowledged
	retained uint64
	made     bool // Create returned nil
	errs     []error
}

// try runs one step and keeps its error. It tells whether the stream can go on.
func (l *nthLife) try(what string, err error) bool {
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", what, err))
	}
	return err == nil
}

func (l *nthLife) create() {
	s, err := CreateOn(l.d.FS(), "/r/s", Options{Schema: stampSchema, Capacity: 4, Durability: l.mode})
	if l.try("create", err) {
		l.s, l.made = s, true
	}
}

func (l *nthLife) open() {
	if l.s != nil {
		return
	}
	s, err := OpenOn(l.d.FS(), "/r/s", OpenOptions{})
	if l.try("open", err) {
		l.s = s
	}
}

func (l *nthLife) close() {
	if l.s != nil {
		l.try("close", l.s.Close())
		l.s = nil
	}
}

// append appends a batch; after a poisoning it opens the stream again.
func (l *nthLife) append(n int) {
	for try := 0; try < 2 && l.s != nil; try++ {
		next := l.s.Cursors().Appended
		_, _, err := l.s.AppendAt(next, stamped(uint64(next), n))
		if l.try("append", err) {
			l.acked = uint64(next) + uint64(n)
			return
		}
		if errors.Is(err, ErrPoisoned) {
			l.close()
			l.open()
		}
	}
}

func (l *nthLife) read() {
	if l.s == nil {
		return
	}
	n, err := l.s.Snapshot()
	if !l.try("snapshot", err) {
		return
	}
	l.try("read", checkSnapshot(n))
	l.try("close a snapshot", n.Close())
	_, err = l.s.Stats()
	l.try("stats", err)
}

func (l *nthLife) retain(before uint64) {
	if l.s != nil {
		l.retained = before
		_, err := l.s.Retain(retention.Policy{BeforeSeq: before}, false)
		l.try("retain", err)
	}
}

func (l *nthLife) do(what string, f func(*Stream) error) {
	if l.s != nil {
		l.try(what, f(l.s))
	}
}

// live is the script: creation, appends over rolls, a seal, retention, a close,
// an opening after it, and a second life.
func (l *nthLife) live() {
	l.create()
	for _, n := range []int{1, 2, 3, 8} {
		l.append(n)
	}
	l.read()
	l.do("seal", (*Stream).Seal)
	l.retain(8)
	l.append(5)
	l.do("sync", (*Stream).Sync)
	l.append(1)
	l.close()
	l.open()
	l.read()
	l.append(6)
	l.close()
}

// within runs f, and fails the test if it doesn't end.
func within(t *testing.T, what fmt.Stringer, f func()) {
	t.Helper()
	done := started(f)
	select {
	case <-done:
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("%v: hangs\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// run lives a life with a fault and holds what is left on the healed disk
// against what was acknowledged.
func (f failing) run(t *testing.T) (failed int64) {
	t.Helper()
	l := &nthLife{d: newNthDisk(t), mode: f.mode}
	var count atomic.Int64
	f.n += l.d.Ops() // counted from here
	l.d.SetHook(f.hook(&count))
	within(t, f, l.live)
	l.d.SetHook(nil)
	failed = count.Load()
	for _, err := range l.errs {
		if errors.Is(err, ErrCorrupt) || !errors.Is(err, f.errno) && !errors.Is(err, ErrPoisoned) && !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", f, err)
		}
	}
	if f.sticky && failed > 0 && len(l.errs) == 0 {
		t.Errorf("%v: %d operations failed, and nothing was told", f, failed)
	}
	if l.s != nil {
		_ = l.s.Close()
		l.s = nil
	}
	rng := rand.New(rand.NewPCG(*crashSeed, uint64(f.n)))
	if f.mode == Commit {
		within(t, f, func() { l.heal(t, f, l.d.CutRandom(rng, rng.Float64()), "after a loss of power") })
	}
	within(t, f, func() { l.heal(t, f, l.d, "healed") })
	return failed
}

func newNthDisk(t *testing.T) *sim.Disk {
	t.Helper()
	d := sim.New()
	if err := errors.Join(d.FS().Mkdir("/r"), d.FS().SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return d
}

// heal opens the stream on a disk that works, twice, and compares.
func (l *nthLife) heal(t *testing.T, f failing, d *sim.Disk, when string) {
	s, err := OpenOn(d.FS(), "/r/s", OpenOptions{})
	if !l.made && (errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist)) {
		s, err = CreateOn(d.FS(), "/r/s", Options{Schema: stampSchema, Capacity: 4, Durability: l.mode})
	}
	if err != nil {
		t.Errorf("%v: %s: %v", f, when, err)
		return
	}
	if r := s.Report(); len(r.Lost)+len(r.SetAside) > 0 {
		t.Errorf("%v: %s: %+v", f, when, r)
	}
	next := s.Cursors().Appended
	_, _, err = s.AppendAt(next, stamped(uint64(next), 7))
	if err = errors.Join(err, s.Seal(), s.Close()); err == nil {
		s, err = OpenOn(d.FS(), "/r/s", OpenOptions{})
	}
	if err != nil {
		t.Errorf("%v: %s: %v", f, when, err)
		return
	}
	n := must[*Snapshot](t)(s.Snapshot())
	if err := checkSnapshot(n); err != nil || uint64(n.First()) > l.retained || n.End() != next+7 || uint64(next) < l.acked {
		t.Errorf("%v: %s: [%d, %d), and then 7 records end at %d: %v; %d were acknowledged, %d dropped; errors were %v",
			f, when, n.First(), next, n.End(), err, l.acked, l.retained, l.errs)
	}
	if err := errors.Join(n.Close(), s.Close()); err != nil {
		t.Errorf("%v: %s: %v", f, when, err)
	}
}

// TestNthFailure: whichever operation of the disk fails, once or from then on,
// before it is done, in its middle or when it was done: nothing panics or hangs,
// no error is taken for damage, and on the healed disk all that was
// acknowledged is there; on a Commit stream also if the power goes then.
func TestNthFailure(t *testing.T) {
	errnos := []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINTR, syscall.EDQUOT, syscall.EMFILE}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			dry := &nthLife{d: newNthDisk(t), mode: mode}
			before := dry.d.Ops()
			dry.live()
			ops := dry.d.Ops() - before
			if len(dry.errs) > 0 || ops < 100 {
				t.Fatalf("without a fault: %d operations, %v", ops, dry.errs)
			}
			total := int64(0)
			for n := 1; n <= ops; n++ {
				for k, f := range []failing{{sticky: true, how: "before"}, {how: "before"}, {how: "short"}, {how: "late"}} {
					for i, errno := range errnos {
						if *nthAll || i == (n+k)%len(errnos) && k == []int{0, 1, 0, 2, 0, 3}[n%6] {
							f.mode, f.n, f.errno = mode, n, errno
							total += f.run(t)
						}
					}
				}
				if t.Failed() {
					break
				}
			}
			if total == 0 {
				t.Fatal("nothing has failed")
			}
			t.Logf("%d operations, %d failures", ops, total)
		})
	}
}
