package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"pgregory.net/rapid"
)

// TestModel runs random operations on a stream and on a slice of records; they
// must agree after every step. On failure it prints the seed that replays it.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		defer m.end()
		t.Repeat(map[string]func(*rapid.T){
			"append":     m.append,
			"appendMore": m.append,
			"seal":       m.seal,
			"sync":       m.sync,
			"retain":     m.retain,
			"reopen":     m.reopen,
			"snapshot":   m.snapshot,
			"look":       m.look,
			"release":    m.release,
			"":           m.invariant,
		})
	})
}

// typedRec is a record of smallSchema as a Go struct.
type typedRec struct {
	Seq  uint64
	TS   int64
	Px   int32
	Side uint8
	_    [3]byte
}

// A modelSegment is what the model knows of a segment.
type modelSegment struct {
	first, end uint64
	ended      bool // full, or sealed early
}

// A model is a stream as plain memory.
type model struct {
	s     *Stream
	d     *sim.Disk
	o     Options
	typed bool

	recs    [][]byte // by number, those that are gone too
	ends    map[uint64]bool
	durable uint64 // at least
	segs    []modelSegment
	gone    map[uint64]bool
	session int
	snaps   []*heldView
}

// A heldView is a snapshot and what was there when it was taken.
type heldView struct {
	n       *Snapshot
	m       *model
	session int
	first   uint64
	end     uint64
	gone    map[uint64]bool
}

func drawSchema(t *rapid.T) *schema.Schema {
	n := rapid.IntRange(0, schema.MaxFields).Draw(t, "fields")
	fields := make([]schema.Field, n)
	for i := range fields {
		fields[i] = schema.Field{Name: fmt.Sprintf("f%d", i), Kind: schema.Kind(rapid.IntRange(1, 8).Draw(t, "kind"))}
	}
	return must[*schema.Schema](t)(schema.New(schema.Nanosecond, fields...))
}

func newModel(t *rapid.T) *model {
	m := &model{d: sim.New(), ends: map[uint64]bool{0: true}, gone: map[uint64]bool{}}
	m.o = Options{
		Capacity:   rapid.IntRange(1, 9).Draw(t, "capacity"),
		Durability: rapid.SampledFrom(modes).Draw(t, "mode"),
		Layout:     rapid.SampledFrom([]segment.Layout{segment.Columns, segment.Rows}).Draw(t, "layout"),
	}
	if m.typed = rapid.Bool().Draw(t, "typed"); m.typed {
		m.o.Schema = must[*schema.Schema](t)(schema.New(schema.Nanosecond,
			schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "side", Kind: schema.U8}))
	} else {
		m.o.Schema = drawSchema(t)
	}
	if m.o.Durability != Commit && rapid.IntRange(0, 3).Draw(t, "ticks") == 0 {
		m.o.SyncEvery = time.Millisecond
	}
	m.s = must[*Stream](t)(CreateOn(m.d.FS(), "/s", m.o))
	return m
}

func (m *model) end() {
	for _, h := range m.snaps {
		_ = h.n.Close()
	}
	_ = m.s.Close()
}

var timesDrawn = []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}

func someTime(rng *rand.Rand) int64 {
	if rng.IntN(4) == 0 {
		return timesDrawn[rng.IntN(len(timesDrawn))]
	}
	return int64(rng.IntN(40)) - 20
}

// batch makes n records of random bytes, padding included, and what the stream
// is to make of them.
func (m *model) batch(rng *rand.Rand, n int) (in []byte, want [][]byte) {
	s := m.o.Schema
	for i := range n {
		r := make([]byte, s.Width())
		for j := range r {
			r[j] = byte(rng.Uint32())
		}
		schema.PutTime(r, someTime(rng))
		in = append(in, r...)
		w := make([]byte, s.Width())
		copy(w[8:16], r[8:])
		binary.LittleEndian.PutUint64(w, uint64(len(m.recs)+i))
		for f := range s.NumFields() {
			at := s.Offset(f)
			copy(w[at:at+s.Field(f).Kind.Size()], r[at:])
		}
		want = append(want, w)
	}
	return in, want
}

func (m *model) append(t *rapid.T) {
	c := m.o.Capacity
	n := rapid.IntRange(0, 2*c+1).Draw(t, "n")
	in, want := m.batch(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5)), n)
	next := Seq(len(m.recs))
	way := rapid.SampledFrom([]string{"append", "at", "async", "typed"}).Draw(t, "way")
	put := m.s.Append
	switch {
	case way == "at":
		wrong := next + Seq(rapid.IntRange(1, 3).Draw(t, "ahead"))
		if _, _, err := m.s.AppendAt(wrong, bytes.Clone(in)); n <= 2*c && !errors.Is(err, ErrSeqMismatch) {
			t.Fatalf("AppendAt(%d) where %d is next: %v", wrong, next, err)
		}
		put = func(b []byte) (Seq, int, error) { return m.s.AppendAt(next, b) }
	case way == "async":
		put = m.s.AppendAsync
	case way == "typed" && m.typed:
		put = func(b []byte) (Seq, int, error) { return appendTyped(t, m.s, b) }
	}
	first, k, err := put(in)
	if n > 2*c {
		if !errors.Is(err, ErrBatchTooLarge) {
			t.Fatalf("append of %d at capacity %d: %v", n, c, err)
		}
		return
	}
	if err != nil || first != next || k != n {
		t.Fatalf("append of %d at %d = %d, %d, %v", n, next, first, k, err)
	}
	if !bytes.Equal(in, bytes.Join(want, nil)) {
		t.Fatalf("the caller's records are %x, want %x", in, want)
	}
	m.grow(want)
	if way != "async" && n > 0 && m.o.Durability == Commit {
		m.durable = uint64(len(m.recs))
	}
}

func appendTyped(t *rapid.T, s *Stream, b []byte) (Seq, int, error) {
	typed := must[Typed[typedRec]](t)(Bind[typedRec](s))
	recs := make([]typedRec, len(b)/s.width)
	copy(bytesOf(recs), b)
	first, n, err := typed.Append(recs)
	copy(b, bytesOf(recs))
	return first, n, err
}

// grow puts records into segments.
func (m *model) grow(want [][]byte) {
	for range want {
		if n := len(m.segs); n == 0 || m.segs[n-1].ended {
			at := uint64(len(m.recs))
			m.segs = append(m.segs, modelSegment{first: at, end: at})
		}
		g := &m.segs[len(m.segs)-1]
		g.end++
		g.ended = g.end-g.first == uint64(m.o.Capacity)
		m.recs = append(m.recs, nil)
	}
	copy(m.recs[len(m.recs)-len(want):], want)
	m.ends[uint64(len(m.recs))] = true
}

func (m *model) seal(t *rapid.T) {
	if err := m.s.Seal(); err != nil {
		t.Fatal(err)
	}
	if n := len(m.segs); n > 0 {
		m.segs[n-1].ended = true
	}
	if m.o.Durability == Commit {
		m.durable = uint64(len(m.recs))
	}
	m.compareSegments(t)
}

func (m *model) sync(t *rapid.T) {
	end := Seq(len(m.recs))
	err := m.s.Sync()
	if m.o.Durability == Commit && rapid.Bool().Draw(t, "wait") {
		err = m.s.WaitDurable(context.Background(), end)
	}
	if err != nil || m.s.Cursors().Durable != end {
		t.Fatalf("sync: %v, durable %d, want %d", err, m.s.Cursors().Durable, end)
	}
	m.durable = uint64(end)
}

// settle waits until all full segments are files.
func settle(t failer, s *Stream) {
	t.Helper()
	if s.commit {
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.appended
	if s.active != nil {
		end = s.active.first
	}
	if err := s.drain(end); err != nil {
		t.Fatal(err)
	}
}

func (m *model) retain(t *rapid.T) {
	settle(t, m.s)
	m.durable = max(m.durable, uint64(m.s.Cursors().Durable))
	p, drops := m.policy(t)
	var want []uint64
	var left []modelSegment
	for _, g := range m.segs {
		if g.ended && drops(g) {
			want = append(want, g.first, g.end)
			continue
		}
		left = append(left, g)
	}
	for _, dry := range []bool{true, false} {
		var got []uint64
		for _, d := range must[[]retention.Dropped](t)(m.s.Retain(p, dry)) {
			got = append(got, d.First, d.End)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("retain %v, dry %v: drops %v, want %v", p, dry, got, want)
		}
	}
	m.segs = left
	for i := 0; i < len(want); i += 2 {
		for seq := want[i]; seq < want[i+1]; seq++ {
			m.gone[seq] = true
		}
	}
}

// policy draws a rule, and says it once more in the naive way.
func (m *model) policy(t *rapid.T) (p retention.Policy, drops func(modelSegment) bool) {
	at := uint64(rapid.IntRange(0, len(m.recs)+1).Draw(t, "at"))
	switch rapid.SampledFrom([]string{"seq", "records", "time"}).Draw(t, "rule") {
	case "seq":
		return retention.Policy{BeforeSeq: at}, func(g modelSegment) bool { return g.end <= at }
	case "records":
		left := uint64(len(m.recs) - len(m.gone))
		stop := at == 0
		return retention.Policy{KeepRecords: at}, func(g modelSegment) bool {
			stop = stop || left-(g.end-g.first) < at
			left -= g.end - g.first
			return !stop
		}
	}
	before := someTime(rand.New(rand.NewPCG(at, 3)))
	return retention.Policy{BeforeTime: &before}, func(g modelSegment) bool {
		_, hi := m.times(g)
		return hi < before
	}
}

func (m *model) times(g modelSegment) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, r := range m.recs[g.first:g.end] {
		lo, hi = min(lo, schema.Time(r)), max(hi, schema.Time(r))
	}
	return lo, hi
}

func (m *model) reopen(t *rapid.T) {
	if err := m.s.Close(); err != nil {
		t.Fatal(err)
	}
	if rapid.IntRange(0, 3).Draw(t, "alter") == 0 {
		m.alter(t)
	}
	m.s = must[*Stream](t)(OpenOn(m.d.FS(), "/s", OpenOptions{Schema: m.o.Schema, Durability: &m.o.Durability}))
	m.session++
	m.durable = uint64(len(m.recs))
	if r := m.s.Report(); r.Cut+uint64(len(r.Lost)+len(r.SetAside)) != 0 {
		t.Fatalf("open after close: %+v", r)
	}
	m.compareSegments(t)
}

// alter changes the closed stream's capacity and mode.
func (m *model) alter(t *rapid.T) {
	m.o.Capacity = rapid.IntRange(1, 9).Draw(t, "capacity")
	m.o.Durability = rapid.SampledFrom(modes).Draw(t, "mode")
	m.o.SyncEvery = 0
	c := Change{Capacity: &m.o.Capacity, Durability: &m.o.Durability, SyncEvery: &m.o.SyncEvery}
	must[Info](t)(AlterOn(m.d.FS(), "/s", c, OpenOptions{}))
	for i := range m.segs {
		m.segs[i].ended = true
	}
}

// compareSegments holds the segments against the model's.
func (m *model) compareSegments(t *rapid.T) {
	settle(t, m.s)
	n := must[*Snapshot](t)(m.s.Snapshot())
	defer n.Close()
	var got, want []string
	for _, g := range must[[]SegmentInfo](t)(n.Segments()) {
		if g.Count > 0 {
			got = append(got, fmt.Sprint(g.First, g.Count, g.State == "sealed", g.MinTime, g.MaxTime))
		}
	}
	for _, g := range m.segs {
		lo, hi := m.times(g)
		want = append(want, fmt.Sprint(g.first, g.end-g.first, g.ended, lo, hi))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("segments are %v, want %v", got, want)
	}
}

// invariant holds the cursors and figures against the model after every step.
func (m *model) invariant(t *rapid.T) {
	c := m.s.Cursors()
	if end := Seq(len(m.recs)); c.Appended != end || c.Durable < Seq(m.durable) || c.Durable > end ||
		m.o.Durability != Commit && c.Published != end || m.o.Durability == Commit && c.Published < Seq(m.durable) {
		t.Fatalf("cursors are %+v; %d were appended, at least %d are durable", c, end, m.durable)
	}
	st := must[Stats](t)(m.s.Stats())
	if st.NextSeq != Seq(len(m.recs)) || st.Poisoned {
		t.Fatalf("stats are %+v; %d were appended", st, len(m.recs))
	}
}
