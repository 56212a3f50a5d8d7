package stream

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"pgregory.net/rapid"
)

// snapshot takes a snapshot and keeps it, over whatever comes.
func (m *model) snapshot(t *rapid.T) {
	if len(m.snaps) > 4 {
		m.release(t)
	}
	n := must[*Snapshot](t)(m.s.Snapshot())
	h := &heldView{n: n, m: m, session: m.session, end: uint64(n.End()), gone: maps.Clone(m.gone)}
	h.first = h.end
	if len(m.segs) > 0 {
		h.first = min(h.end, m.segs[0].first)
	}
	m.snaps = append(m.snaps, h)
	if !m.ends[h.end] || h.end < m.durable || h.end > uint64(len(m.recs)) || h.end < uint64(len(m.recs)) && !m.s.commit {
		t.Fatalf("the snapshot ends at %d; %d were appended, at least %d are durable", h.end, len(m.recs), m.durable)
	}
	if uint64(n.First()) != h.first {
		t.Fatalf("the snapshot begins at %d, want %d", n.First(), h.first)
	}
	h.check(t)
}

// look reads one of the snapshots, as old as it may be.
func (m *model) look(t *rapid.T) {
	if len(m.snaps) == 0 {
		t.Skip("no snapshots")
	}
	rapid.SampledFrom(m.snaps).Draw(t, "snapshot").check(t)
}

func (m *model) release(t *rapid.T) {
	if len(m.snaps) == 0 {
		t.Skip("no snapshots")
	}
	i := rapid.IntRange(0, len(m.snaps)-1).Draw(t, "which")
	if err := m.snaps[i].n.Close(); err != nil {
		t.Fatal(err)
	}
	m.snaps = slices.Delete(m.snaps, i, i+1)
}

func (h *heldView) check(t *rapid.T) {
	from := uint64(rapid.IntRange(0, int(h.end)+2).Draw(t, "from"))
	to := uint64(rapid.IntRange(0, int(h.end)+2).Draw(t, "to"))
	if rapid.Bool().Draw(t, "all") {
		from, to = 0, h.end
	}
	h.forward(t, from, to)
	h.backward(t, from, to)
	h.byTime(t)
	h.get(t, from)
	if h.m.typed {
		h.typed(t, from, to)
	}
}

// dropped tells whether the snapshot may say that a record is gone: it was when
// it was taken, or the stream was closed since and a later writer dropped it.
func (h *heldView) dropped(seq uint64) bool {
	return h.gone[seq] || h.session != h.m.session && h.m.gone[seq]
}

// allDropped checks a dropped range that was met at seq.
func (h *heldView) allDropped(t *rapid.T, gone *DroppedError, seq uint64) {
	if uint64(gone.From) > seq || uint64(gone.To) <= seq || gone.Reason == "" {
		t.Fatalf("at %d: %v", seq, gone)
	}
	for q := gone.From; q < gone.To; q++ {
		if !h.dropped(uint64(q)) {
			t.Fatalf("at %d: %v, but %d is not", seq, gone, q)
		}
	}
}

// rows checks the records of a batch.
func (h *heldView) rows(t *rapid.T, b Batch) {
	got := must[[]byte](t)(b.Rows([]byte{1}))
	want := bytes.Join(h.m.recs[b.First():b.End()], nil)
	if got[0] != 1 || !bytes.Equal(got[1:], want) {
		t.Fatalf("records [%d, %d) are %x, want %x", b.First(), b.End(), got[1:], want)
	}
	i := b.Len() / 2
	if got := must[[]byte](t)(b.Record(nil, i)); !bytes.Equal(got, h.m.recs[int(b.First())+i]) {
		t.Fatalf("record %d is %x, want %x", int(b.First())+i, got, h.m.recs[int(b.First())+i])
	}
}

func (h *heldView) forward(t *rapid.T, from, to uint64) {
	at, end := from, min(to, h.end)
	for b, err := range h.n.Range(Seq(from), Seq(to)) {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			h.allDropped(t, gone, at)
			at = uint64(gone.To)
			continue
		}
		if err != nil {
			t.Fatalf("range [%d, %d) at %d: %v", from, to, at, err)
		}
		if uint64(b.First()) != at || b.Len() == 0 || uint64(b.End()) > end {
			t.Fatalf("range [%d, %d) at %d: a batch [%d, %d)", from, to, at, b.First(), b.End())
		}
		h.rows(t, b)
		at = uint64(b.End())
	}
	if at < end {
		t.Fatalf("range [%d, %d) ends at %d", from, to, at)
	}
}

func (h *heldView) backward(t *rapid.T, from, to uint64) {
	at := min(to, h.end)
	for b, err := range h.n.Backward(Seq(from), Seq(to)) {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			h.allDropped(t, gone, at-1)
			at = uint64(gone.From)
			continue
		}
		if err != nil {
			t.Fatalf("backward [%d, %d) at %d: %v", from, to, at, err)
		}
		if uint64(b.End()) != at || b.Len() == 0 || uint64(b.First()) < from {
			t.Fatalf("backward [%d, %d) at %d: a batch [%d, %d)", from, to, at, b.First(), b.End())
		}
		h.rows(t, b)
		at = uint64(b.First())
	}
	if at > from && from < min(to, h.end) {
		t.Fatalf("backward [%d, %d) ends at %d", from, to, at)
	}
}

// byTime compares a range of times with a walk over all records, and the count
// of skipped segments with what their records say.
func (h *heldView) byTime(t *rapid.T) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "times"), 6))
	from, to := someTime(rng), someTime(rng)
	var got, want []uint64
	skipped := h.n.Stats().SegmentsSkipped
	for b, err := range h.n.TimeRange(from, to) {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			h.allDropped(t, gone, uint64(gone.From))
			continue
		}
		if err != nil {
			t.Fatalf("times [%d, %d): %v", from, to, err)
		}
		h.rows(t, b)
		for seq := b.First(); seq < b.End(); seq++ {
			got = append(got, uint64(seq))
		}
	}
	skipped = h.n.Stats().SegmentsSkipped - skipped
	for seq, r := range h.m.recs[:h.end] {
		if ts := schema.Time(r); ts >= from && ts < to && !h.gone[uint64(seq)] {
			want = append(want, uint64(seq))
		}
	}
	if h.session != h.m.session { // some may be gone since
		got = slices.DeleteFunc(got, h.dropped)
		want = slices.DeleteFunc(want, h.dropped)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("times [%d, %d) are those of %v, want %v", from, to, got, want)
	}
	naive := 0
	for _, g := range must[[]SegmentInfo](t)(h.n.Segments()) {
		lo, hi := h.m.times(modelSegment{first: uint64(g.First), end: uint64(g.First) + g.Count})
		if g.State == "sealed" && (hi < from || lo >= to) {
			naive++
		}
	}
	if skipped != naive {
		t.Fatalf("times [%d, %d): %d segments skipped, want %d", from, to, skipped, naive)
	}
}

func (h *heldView) get(t *rapid.T, seq uint64) {
	got, err := h.n.Get([]byte{7}, Seq(seq))
	gone, isGone := errors.AsType[*DroppedError](err)
	switch {
	case seq >= h.end:
		if !errors.Is(err, ErrNotFound) {
			t.Fatalf("record %d of %d: %v, want ErrNotFound", seq, h.end, err)
		}
	case isGone:
		h.allDropped(t, gone, seq)
	case err != nil || !bytes.Equal(got[1:], h.m.recs[seq]) || got[0] != 7 || h.gone[seq]:
		t.Fatalf("record %d is %x, %v; want %x", seq, got, err, h.m.recs[seq])
	}
}

// typed reads records as Go values, and a column.
func (h *heldView) typed(t *rapid.T, from, to uint64) {
	typed := must[Typed[typedRec]](t)(Bind[typedRec](h.m.s))
	dst := make([]typedRec, to-min(from, to))
	k, err := typed.Read(dst, h.n, Seq(from))
	if err != nil && !errors.Is(err, ErrDropped) {
		t.Fatal(err)
	}
	end := min(to, h.end)
	if err == nil && from < end && uint64(k) != end-from {
		t.Fatalf("Read of [%d, %d) = %d", from, end, k)
	}
	for i := range k {
		if !bytes.Equal(bytesOf(dst[i:i+1]), h.m.recs[from+uint64(i)]) {
			t.Fatalf("record %d is %x, want %x", from+uint64(i), bytesOf(dst[i:i+1]), h.m.recs[from+uint64(i)])
		}
	}
	for b, err := range h.n.Range(Seq(h.first), Seq(h.end)) {
		if err != nil {
			continue
		}
		px := must[segment.Column[int32]](t)(segment.ColumnOf[int32](b.Segment(), "px"))
		for i := range px.Len() {
			want := int32(h.m.o.Schema.Int(h.m.recs[int(b.First())+i], 0))
			if px.At(i) != want {
				t.Fatalf("px of record %d is %d, want %d", int(b.First())+i, px.At(i), want)
			}
		}
	}
}
