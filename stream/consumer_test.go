package stream

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// TestConsumer: a position is durable, goes forward only, and its lag shows.
func TestConsumer(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	defer s.Close()
	for i := range 5 {
		if _, _, err := s.Append(recs(sch, i, 4)); err != nil {
			t.Fatal(err)
		}
	}
	c := must[*Consumer](t)(OpenConsumer(dir, "risk"))
	if c.Position() != 0 {
		t.Fatalf("a new consumer is at %d, want 0", c.Position())
	}
	if err := c.Commit(7); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(6); !errors.Is(err, ErrRange) {
		t.Fatalf("Commit back: %v, want ErrRange", err)
	}
	again := must[*Consumer](t)(OpenConsumer(dir, "risk"))
	if again.Position() != 7 {
		t.Fatalf("opened again at %d, want 7", again.Position())
	}
	cs := must[[]ConsumerInfo](t)(s.Consumers())
	if len(cs) != 1 || cs[0].Name != "risk" || cs[0].Lag != 13 {
		t.Fatalf("Consumers = %+v, want risk with a lag of 13", cs)
	}
	if err := again.Reset(2); err != nil || again.Position() != 2 {
		t.Fatalf("Reset(2): %v, at %d", err, again.Position())
	}
	if err := again.Remove(); err != nil {
		t.Fatal(err)
	}
	if cs := must[[]ConsumerInfo](t)(s.Consumers()); len(cs) != 0 {
		t.Fatalf("after Remove: %+v", cs)
	}
	for _, bad := range []string{"", ".", "..", "a/b", "../x", ".hidden", "-flag", "ä"} {
		if _, err := OpenConsumer(dir, bad); !errors.Is(err, ErrName) {
			t.Errorf("OpenConsumer(%q): %v, want ErrName", bad, err)
		}
	}
}

// TestConsumerAhead: a power loss takes records that a consumer has committed.
// Others get their numbers, and it reads them.
func TestConsumerAhead(t *testing.T) {
	for _, mode := range []Durability{Sealed, Os} {
		d, s := onSim(t, mode, 16)
		put(t, s, 4)
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		put(t, s, 6)
		for name, at := range map[string]Seq{"behind": 3, "level": 4, "ahead": 10} {
			if err := must[*Consumer](t)(OpenConsumerOn(d.FS(), "/s", name)).Commit(at); err != nil {
				t.Fatal(err)
			}
		}
		cut := d.Cut(func(int) int { return 0 }) // nothing that was not synced
		told := make(chan Event, 8)
		s = must[*Stream](t)(OpenOn(cut.FS(), "/s", OpenOptions{OnEvent: func(v Event) {
			if v.Kind == EventRewound {
				told <- v
			}
		}}))
		if end := s.Cursors().Appended; end != 4 {
			t.Fatalf("%v: %d records survived, want 4", mode, end)
		}
		for name, want := range map[string]Seq{"behind": 3, "level": 4, "ahead": 4} {
			if at := must[*Consumer](t)(OpenConsumerOn(cut.FS(), "/s", name)).Position(); at != want {
				t.Errorf("%v: consumer %s is at %d, want %d", mode, name, at, want)
			}
		}
		if v := <-told; v.From != 4 || v.To != 10 {
			t.Errorf("%v: told of [%d, %d), want [4, 10)", mode, v.From, v.To)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHold: retention keeps what a consumer has asked it to, up to its bound.
func TestHold(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	defer s.Close()
	for i := range 10 {
		if _, _, err := s.Append(recs(sch, i, 4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	c := must[*Consumer](t)(OpenConsumer(dir, "slow"))
	if err := errors.Join(c.Commit(9), c.Hold(1000)); err != nil {
		t.Fatal(err)
	}
	drop := func() int {
		t.Helper()
		return len(must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 40}, false)))
	}
	if n := drop(); n != 2 {
		t.Fatalf("dropped %d segments, want the 2 below 9", n)
	}
	if err := c.Hold(12); err != nil { // the newest 12 records only
		t.Fatal(err)
	}
	if n := drop(); n != 5 {
		t.Fatalf("dropped %d segments, want the 5 up to 28", n)
	}
	if err := c.Hold(0); err != nil {
		t.Fatal(err)
	}
	if n := drop(); n != 3 {
		t.Fatalf("dropped %d segments, want the 3 left", n)
	}
}

// TestHoldByOperator: a hold that another process sets or ends outlives the
// commits of the consumer, and doesn't look like one.
func TestHoldByOperator(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	defer s.Close()
	for i := range 3 {
		if _, _, err := s.Append(recs(sch, i, 4)); err != nil {
			t.Fatal(err)
		}
	}
	only := func() ConsumerInfo {
		t.Helper()
		cs := must[[]ConsumerInfo](t)(s.Consumers())
		if len(cs) != 1 {
			t.Fatalf("Consumers = %+v, want one", cs)
		}
		return cs[0]
	}
	c := must[*Consumer](t)(OpenConsumer(dir, "risk"))
	if err := c.Commit(2); err != nil {
		t.Fatal(err)
	}
	before := only()
	operator := must[*Consumer](t)(OpenConsumer(dir, "risk"))
	if err := operator.Hold(5); err != nil {
		t.Fatal(err)
	}
	if i := only(); i.Hold != 5 || !i.At.Equal(before.At) || i.HeldFrom() != 7 {
		t.Fatalf("with a hold of 5: %+v, held from %d; want the commit of %v and 7", i, i.HeldFrom(), before.At)
	}
	if err := c.Commit(9); err != nil {
		t.Fatal(err)
	}
	if i := only(); i.Hold != 5 || c.Held() != 5 || i.HeldFrom() != 9 {
		t.Fatalf("after a commit: %+v, held from %d", i, i.HeldFrom())
	}
	if err := RemoveConsumer(dir, "risk"); err != nil {
		t.Fatal(err)
	}
	if err := RemoveConsumer(dir, "risk"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("RemoveConsumer again: %v, want ErrNotFound", err)
	}
	if err := RemoveConsumer(dir, "../s"); !errors.Is(err, ErrName) {
		t.Fatalf("RemoveConsumer(../s): %v, want ErrName", err)
	}
	if err := c.Commit(10); err != nil {
		t.Fatal(err)
	}
	if i := only(); i.Hold != 0 || i.Position != 10 {
		t.Fatalf("a commit after the removal: %+v, want 10 without a hold", i)
	}
}

// TestStatsLag: the figures tell how far the slowest consumer is behind, how much
// of the tape is not on disk, and of consumers that can't be read; a reader's, too.
func TestStatsLag(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 8, Durability: Os}))
	defer s.Close()
	if _, _, err := s.Append(recs(sch, 0, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if st := must[Stats](t)(s.Stats()); st.DurableLag != 0 || st.Lag() != 0 || len(st.Consumers) != 0 {
		t.Fatalf("all is on disk: %+v", st)
	}
	later := recs(sch, 3, 2)
	schema.PutTime(later, 1000)
	schema.PutTime(later[sch.Width():], 1700)
	if _, _, err := s.Append(later); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]Seq{"quick": 5, "slow": 1} {
		if err := must[*Consumer](t)(OpenConsumer(dir, name)).Commit(at); err != nil {
			t.Fatal(err)
		}
	}
	r := must[*Reader](t)(OpenReader(dir))
	defer r.Close()
	for who, st := range map[string]Stats{"stream": must[Stats](t)(s.Stats()), "reader": must[Stats](t)(r.Stats())} {
		if st.DurableLag != 700 || st.Lag() != 4 || len(st.Consumers) != 2 || st.ConsumersErr != nil {
			t.Errorf("%s: %+v; want 700 not on disk, and a lag of 4 among two", who, st)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "consumers", "slow.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if st := must[Stats](t)(s.Stats()); !errors.Is(st.ConsumersErr, ErrCorrupt) || st.Records != 5 {
		t.Fatalf("beside a damaged consumer: %+v", st)
	}
}

// TestStatsLagOfCommit: what waits for a sync is counted, though readers don't see
// it; and a consumer's lag by ts begins with what it reads next.
func TestStatsLagOfCommit(t *testing.T) {
	d, s := onSim(t, Commit, 4)
	defer s.Close()
	put(t, s, 6)
	settle(t, s)
	first := must[Stats](t)(s.Stats())
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpDataSync || op.Kind == sim.OpSync {
			return errors.New("no sync today")
		}
		return nil
	})
	late := stamped(6, 2)
	schema.PutTime(late, first.MaxTime+100)
	schema.PutTime(late[s.width:], first.MaxTime+150)
	if _, _, err := s.AppendAsync(late); err != nil {
		t.Fatal(err)
	}
	until(t, "the sync to fail", func() bool { return must[Stats](t)(s.Stats()).Poisoned })
	d.SetHook(nil)
	if err := must[*Consumer](t)(OpenConsumerOn(d.FS(), "/s", "risk")).Commit(5); err != nil {
		t.Fatal(err)
	}
	st := must[Stats](t)(s.Stats())
	if st.NextSeq != 8 || st.DurableSeq != 6 || st.DurableLag != 50 {
		t.Errorf("%d of %d records are on disk, and %d units are not; want 6 of 8, and 50", st.DurableSeq, st.NextSeq, st.DurableLag)
	}
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	rec := must[[]byte](t)(n.Get(nil, 5))
	if want := first.MaxTime - schema.Time(rec); st.Lag() != 1 || st.LagTime() != want {
		t.Errorf("the consumer is %d records and %d units behind, want 1 and %d", st.Lag(), st.LagTime(), want)
	}
}

// TestSince: how much later one time is than another neither goes below zero nor
// wraps.
func TestSince(t *testing.T) {
	for _, c := range []struct{ later, earlier, want int64 }{
		{5, 3, 2}, {3, 5, 0}, {3, 3, 0}, {math.MaxInt64, -1, math.MaxInt64}, {math.MaxInt64, math.MinInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64, 0},
	} {
		if got := since(c.later, c.earlier); got != c.want {
			t.Errorf("since(%d, %d) = %d, want %d", c.later, c.earlier, got, c.want)
		}
	}
}

// TestHoldBesideCommits: an operator who sets holds and a consumer that commits,
// at the same time, never undo what the other did.
func TestHoldBesideCommits(t *testing.T) {
	d, s := onSim(t, Os, 4)
	defer s.Close()
	put(t, s, 4)
	worker := must[*Consumer](t)(OpenConsumerOn(d.FS(), "/s", "risk"))
	if err := worker.Commit(0); err != nil {
		t.Fatal(err)
	}
	const rounds = 200
	done := make(chan error, 1)
	go func() {
		for i := range Seq(rounds) {
			if err := worker.Commit(i + 1); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var at Seq
	for i := range uint64(rounds) {
		c := must[*Consumer](t)(OpenConsumerOn(d.FS(), "/s", "risk"))
		if err := c.Hold(i + 1); err != nil {
			t.Fatal(err)
		}
		info := must[[]ConsumerInfo](t)(s.Consumers())[0]
		if info.Hold != i+1 || info.Position < at {
			t.Fatalf("hold %d at %d, want a hold of %d at %d or above", info.Hold, info.Position, i+1, at)
		}
		at = info.Position
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if info := must[[]ConsumerInfo](t)(s.Consumers())[0]; info.Hold != rounds || info.Position != rounds {
		t.Fatalf("in the end: %+v", info)
	}
}

// TestDamagedConsumer: one whose file can't be read doesn't hide the others, and
// retention drops nothing while it doesn't know what is held.
func TestDamagedConsumer(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	defer s.Close()
	if _, _, err := s.Append(recs(sch, 0, 8)); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	for _, name := range []string{"a", "b"} {
		if err := must[*Consumer](t)(OpenConsumer(dir, name)).Commit(3); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, "consumers", name+".json") }
	b := must[[]byte](t)(os.ReadFile(file("b")))
	for what, content := range map[string][]byte{"cut": b[:20], "of another name": b} {
		if err := os.WriteFile(file("a"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		cs, err := s.Consumers()
		if !errors.Is(err, ErrCorrupt) || len(cs) != 1 || cs[0].Name != "b" {
			t.Errorf("%s: %+v, %v; want b and ErrCorrupt", what, cs, err)
		}
		if _, err := s.Retain(retention.Policy{BeforeSeq: 8}, false); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Retain: %v, want ErrCorrupt", what, err)
		}
	}
	if n := must[Stats](t)(s.Stats()).Records; n != 8 {
		t.Errorf("%d records are left, want all 8", n)
	}
}
