package stream

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// TestStandingPolicy: the stream's own policy is applied after each seal, and
// when it is opened, by the clock that its opener gives.
func TestStandingPolicy(t *testing.T) {
	var clock atomic.Int64 // hours
	clock.Store(1000)
	now := func() time.Time { return time.Unix(3600*clock.Load(), 0) }
	d := sim.New()
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: stampSchema, Capacity: 4, Durability: Sealed, Now: now,
		Retention: retention.Policy{KeepRecords: 10, MaxWriteAge: 24 * time.Hour}}))
	for range 20 {
		put(t, s, 2)
	}
	quiet(t, s) // retention included
	holdsFrom := func(s *Stream, first, end Seq, when string) {
		t.Helper()
		n := must[*Snapshot](t)(s.Snapshot())
		defer n.Close()
		if n.First() != first || n.End() != end {
			t.Fatalf("%s: [%d, %d), want [%d, %d)", when, n.First(), n.End(), first, end)
		}
	}
	holdsFrom(s, 28, 40, "ten records are kept, in whole segments")
	put(t, s, 1)
	clock.Add(20)
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	quiet(t, s)
	holdsFrom(s, 28, 41, "after 20 hours")
	put(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Add(5)
	s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{Now: now}))
	defer s.Close()
	holdsFrom(s, 40, 42, "opened after 25 hours, and with one more record")
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	var reasons []string
	for _, d := range n.Dropped() {
		reasons = append(reasons, d.Error())
	}
	want := []string{ // two records more, and one more segment went by their number
		"ledger: records [0, 32) are gone: " + meta.ReasonRetention + ": " + retention.ReasonKeepRecords,
		"ledger: records [32, 40) are gone: " + meta.ReasonRetention + ": " + retention.ReasonMaxWriteAge,
	}
	if !slices.Equal(reasons, want) {
		t.Fatalf("dropped are %q, want %q", reasons, want)
	}
}

// TestRetainByTime: each segment goes by its own largest time, one in the middle
// too, and the active one stays whatever its times are.
func TestRetainByTime(t *testing.T) {
	d := sim.New()
	sch := small(t)
	s := must[*Stream](t)(CreateOn(d.FS(), "/s", Options{Schema: sch, Capacity: 2, Durability: Os}))
	for _, ts := range []int64{5, 50, 7, 9, 60, 3, 1, 2, 4} { // [5 50] [7 9] [60 3] [1 2] 4
		b := make([]byte, sch.Width())
		schema.PutTime(b, ts)
		if _, _, err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, s)
	before := int64(10)
	var got []uint64
	for _, x := range must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeTime: &before}, false)) {
		got = append(got, x.First)
	}
	if !slices.Equal(got, []uint64{2, 6}) {
		t.Fatalf("dropped are the segments at %v, want 2 and 6", got)
	}
	for range 2 { // and so it is after it was opened again
		n := must[*Snapshot](t)(s.Snapshot())
		var see []string
		for b, err := range n.Range(0, n.End()) {
			if err != nil {
				see = append(see, strings.TrimPrefix(err.Error(), "ledger: records "))
				continue
			}
			see = append(see, segment.Name(uint64(b.First()))[19:20])
		}
		if want := "0 [2, 4) are gone: retention: before 4 [6, 8) are gone: retention: before 8"; strings.Join(see, " ") != want {
			t.Fatalf("the stream is %q, want %q", strings.Join(see, " "), want)
		}
		n.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
	}
	_ = s.Close()
}

// TestRetiredComesBack: a file whose unlinking did not reach the disk is there
// again after a loss of power. The next Open unlinks it; readers pass it over.
func TestRetiredComesBack(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	put(t, s, 8, 8)
	quiet(t, s) // the hook is called by Retain alone
	unlinked := false
	var cut *sim.Disk
	d.SetHook(func(op sim.Op) error {
		if unlinked = unlinked || op.Kind == sim.OpRemove; unlinked && op.Kind == sim.OpSyncDir && cut == nil {
			cut = d.Cut(func(int) int { return 0 }) // nothing that isn't synced is kept
		}
		return nil
	})
	must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 8}, false))
	d.SetHook(nil)
	if err := s.Close(); err != nil || cut == nil {
		t.Fatalf("close: %v; cut: %v", err, cut)
	}
	names := func() string { return strings.Join(listing(t, cut), "\n") }
	if !strings.Contains(names(), segment.Name(0)) || !strings.Contains(names(), segment.Name(4)) {
		t.Fatalf("the files did not come back:\n%s", names())
	}
	r := must[*Reader](t)(OpenReaderOn(cut.FS(), "/s"))
	defer r.Close()
	n := must[*Snapshot](t)(r.Snapshot())
	if n.First() != 8 || n.End() != 16 {
		t.Errorf("a reader sees [%d, %d), want [8, 16)", n.First(), n.End())
	}
	n.Close()
	again := must[*Stream](t)(OpenOn(cut.FS(), "/s", OpenOptions{}))
	defer again.Close()
	if got := again.Report().Unlinked; !slices.Equal(got, []string{segment.Name(0), segment.Name(4)}) {
		t.Errorf("unlinked were %v", got)
	}
	if strings.Contains(names(), segment.Name(0)) || strings.Contains(names(), segment.Name(4)) {
		t.Errorf("the files are still there:\n%s", names())
	}
	if again.Cursors().Appended != 16 {
		t.Errorf("the stream goes on at %d, want 16", again.Cursors().Appended)
	}
	if _, err := d.FS().Stat(filepath.Join("/s", meta.Quarantine)); err == nil {
		t.Error("something was set aside")
	}
}
