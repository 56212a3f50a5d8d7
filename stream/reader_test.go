package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
)

// sees checks that a reader sees whole batches up to end, from first on.
func sees(t *testing.T, r *Reader, first, end Seq, when string) {
	t.Helper()
	n, err := r.Snapshot()
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer n.Close()
	if n.First() != first || n.End() != end {
		t.Fatalf("%s: the reader sees [%d, %d), want [%d, %d)", when, n.First(), n.End(), first, end)
	}
	if err := checkSnapshot(n); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
}

// TestReaderBesideWriter: a reader that was opened first follows the writer over
// rolls, seals, retention, Close, Alter and restarts.
func TestReaderBesideWriter(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d, s := onSim(t, mode, 4)
			r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
			sees(t, r, 0, 0, "empty")
			put(t, s, 3)
			sees(t, r, 0, 3, "one batch")
			put(t, s, 1)
			sees(t, r, 0, 4, "full segment")
			settle(t, s)
			sees(t, r, 0, 4, "sealed")
			put(t, s, 7)
			sees(t, r, 0, 11, "batch over a roll")
			put(t, s, 8)
			sees(t, r, 0, 19, "batch over two rolls")
			if err := s.Seal(); err != nil {
				t.Fatal(err)
			}
			sees(t, r, 0, 19, "sealed early")
			put(t, s, 2)
			must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 9}, false))
			put(t, s, 1)
			sees(t, r, 8, 22, "after retention")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sees(t, r, 8, 22, "closed")
			capacity := 6
			must[Info](t)(AlterOn(d.FS(), "/s", Change{Capacity: &capacity}, OpenOptions{}))
			s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
			sees(t, r, 8, 22, "altered and opened again")
			put(t, s, 5, 12, 1)
			sees(t, r, 8, 40, "larger segments")
			if i := r.Info(); i.Capacity != 6 || i.ID != s.Info().ID || !r.Schema().Equal(stampSchema) {
				t.Fatalf("the reader's Info is %+v", i)
			}
			st := must[Stats](t)(r.Stats())
			if st.Records != 32 || st.FirstSeq != 8 || st.NextSeq != 40 || st.Dropped != 8 || st.MinTime != 8 || st.MaxTime != 39 {
				t.Fatalf("the reader's figures are %+v", st)
			}
			c := r.Cursors()
			if want := s.Cursors(); c.Published != want.Published || c.Durable > want.Durable {
				t.Fatalf("the reader's cursors are %+v, the writer's %+v", c, want)
			}
			if err := errors.Join(s.Close(), r.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Snapshot(); !errors.Is(err, ErrClosed) {
				t.Fatalf("Snapshot of a closed reader: %v, want ErrClosed", err)
			}
			if err := r.Close(); !errors.Is(err, ErrClosed) {
				t.Fatalf("second Close: %v, want ErrClosed", err)
			}
		})
	}
}

// TestReaderSeesDurable: a reader on a Commit stream sees nothing that a sync has
// not covered yet, nor a part of a batch, however it is written.
func TestReaderSeesDurable(t *testing.T) {
	d, s := onSim(t, Commit, 4)
	r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
	defer r.Close()
	put(t, s, 3)
	begun, tokens := slowSyncs(d)
	var err error
	appended := started(func() { _, _, err = s.Append(stamped(3, 7)) }) // over two rolls
	await(t, begun, "the sync")
	sees(t, r, 0, 3, "the sync has begun")
	if _, _, err := s.AppendAsync(stamped(10, 1)); err != nil {
		t.Fatal(err)
	}
	sees(t, r, 0, 3, "appended, and not durable")
	fresh := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
	sees(t, fresh, 0, 3, "another reader")
	fresh.Close()
	close(tokens)
	await(t, appended, "Append")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	sees(t, r, 0, 11, "durable")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReaderFollowsDurable: where a part of what is appended becomes durable, a
// reader that reads the journal on sees that part.
func TestReaderFollowsDurable(t *testing.T) {
	d, s := onSim(t, Commit, 100)
	r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
	defer r.Close()
	put(t, s, 3)
	sees(t, r, 0, 3, "at first")
	begun := make(chan struct{}, 2)
	gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
	var syncs atomic.Int32
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpDataSync {
			k := syncs.Add(1) - 1
			begun <- struct{}{}
			<-gates[k]
		}
		return nil
	})
	appended := started(func() { put(t, s, 1) })
	await(t, begun, "the first sync")
	if _, _, err := s.AppendAsync(stamped(4, 2)); err != nil {
		t.Fatal(err)
	}
	await(t, begun, "the second sync")
	close(gates[0])
	await(t, appended, "the first append")
	sees(t, r, 0, 4, "the first sync has ended")
	close(gates[1])
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	sees(t, r, 0, 6, "both have ended")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReaderAfterPowerLoss: on a Commit stream a reader sees whole batches after
// a loss of power too, all that is in sealed files, and no more than a writer
// finds then.
func TestReaderAfterPowerLoss(t *testing.T) {
	d, s := onSim(t, Commit, 4)
	rng := rand.New(rand.NewPCG(*crashSeed, 4))
	for _, n := range []int{3, 3, 1, 8, 2, 7, 5, 4} {
		put(t, s, n)
		for range 2 {
			for _, keep := range []float64{0, 0.5, 1} {
				when := fmt.Sprintf("batch of %d, keep %v", n, keep)
				cut := d.CutRandom(rng, keep)
				r := must[*Reader](t)(OpenReaderOn(cut.FS(), "/s"))
				v := must[*Snapshot](t)(r.Snapshot())
				if err := checkSnapshot(v); err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				again := must[*Stream](t)(OpenOn(cut.FS(), "/s", OpenOptions{}))
				if end := again.Cursors().Appended; v.End() > end || end < s.Cursors().Durable {
					t.Fatalf("%s: the reader ends at %d, a writer at %d; %d are durable", when, v.End(), end, s.Cursors().Durable)
				}
				if err := errors.Join(v.Close(), r.Close(), again.Close()); err != nil {
					t.Fatal(err)
				}
			}
			settle(t, s) // and once more with all sealed that is full
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReaderSeesWholeBatches: between the frames of a batch that goes over a
// roll a reader sees nothing of it.
func TestReaderSeesWholeBatches(t *testing.T) {
	d, s := onSim(t, Commit, 4)
	r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
	defer r.Close()
	put(t, s, 8, 1) // three journals are made
	settle(t, s)
	var looks atomic.Int32
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpDataSync { // the writes are behind us
			d.SetHook(nil)
		} else if op.Kind == sim.OpWrite && strings.Contains(op.Path, "journal.") && !strings.HasSuffix(op.Path, ".tmp") {
			looks.Add(1)
			sees(t, r, 0, 9, op.String())
		}
		return nil
	})
	var err error
	done := started(func() { _, _, err = s.AppendAsync(stamped(9, 7)) })
	await(t, done, "the append")
	if n := looks.Load(); err != nil || n < 3 {
		t.Fatalf("the append: %v; %d writes, want at least 3", err, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sees(t, r, 0, 16, "closed")
}

// TestReaderDropped: what a reader has open stays; what it had not opened when
// the writer's retention took it is named with its range and the reason.
func TestReaderDropped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: stampSchema, Capacity: 4, Durability: Sealed}))
	defer s.Close()
	put(t, s, 8, 8)
	settle(t, s)
	r := must[*Reader](t)(OpenReader(dir))
	defer r.Close()
	n := must[*Snapshot](t)(r.Snapshot())
	defer n.Close()
	loop := n.Range(4, 8)
	for b, err := range loop {
		if err != nil {
			t.Fatal(err)
		}
		must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 12}, false))
		rows := must[[]byte](t)(b.Rows(nil)) // the loop's own batch is still there
		if err := (&stampCheck{next: 4}).add(rows); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ seq, from, to Seq }{{1, 0, 4}, {9, 8, 12}} {
		_, err := n.Get(nil, c.seq)
		gone, ok := errors.AsType[*DroppedError](err)
		if !ok || gone.From != c.from || gone.To != c.to || !strings.HasPrefix(gone.Reason, meta.ReasonRetention) {
			t.Fatalf("record %d: %v; want that [%d, %d) was dropped by retention", c.seq, err, c.from, c.to)
		}
	}
	var got []Seq
	for b, err := range n.Range(0, n.End()) {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			got = append(got, gone.From, gone.To)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First() == 12 {
			got = append(got, 12)
		}
	}
	// Race builds unmap a file when its last user releases it.
	if !slices.Equal(got, []Seq{0, 4, 8, 12, 12}) && !slices.Equal(got, []Seq{0, 4, 4, 8, 8, 12, 12}) {
		t.Fatalf("the range tells %v", got)
	}
	put(t, s, 1)
	sees(t, r, 12, 17, "after retention")
	m := must[*Snapshot](t)(r.Snapshot())
	defer m.Close()
	if _, err := m.Get(nil, 3); !errors.Is(err, ErrDropped) {
		t.Fatalf("record 3 of a new snapshot: %v, want ErrDropped", err)
	}
	if d := m.Dropped(); len(d) != 1 || d[0].From != 0 || d[0].To != 12 {
		t.Fatalf("Dropped = %v, want [0, 12)", d)
	}
}
