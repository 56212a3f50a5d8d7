package stream

import (
	"math"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
)

// Stats are a stream's figures. Counts of what happened start at zero at Open.
type Stats struct {
	Records    uint64 // that are there
	Segments   int    // sealed, being sealed, and active
	Bytes      int64  // of the sealed files, and of the rows in memory
	FirstSeq   Seq    // of the first record that is there; NextSeq if none is
	NextSeq    Seq    // the next number
	DurableSeq Seq    // the records below are on disk
	MinTime    int64  // smallest and largest time, in the stream's unit; 0 if there are no records
	MaxTime    int64
	DurableLag int64 // by ts, from the first record that is not on disk to the newest, in the stream's unit; 0 if all are

	Consumers    []ConsumerInfo // by name; ConsumerInfo.LagTime is from the first record that it has not committed to MaxTime
	ConsumersErr error          // of those that can't be read; the other figures are right

	Appends    uint64 // batches
	Appended   uint64 // records
	Dropped    uint64 // records that retention took
	Syncs      uint64 // fdatasyncs of journals
	Waits      uint64 // appends that waited for a segment to be sealed
	Rolls      uint64 // segments begun
	Seals      uint64 // segments sealed
	SealErrors uint64 // failed tries to seal one
	Sealing    int    // segments that wait to be sealed
	Snapshots  int    // open ones
	Leaked     int64  // snapshots of the process that were collected without Close
	Poisoned   bool
}

// Lag is that of the consumer that is furthest behind, in records; 0 without one.
func (st Stats) Lag() (records uint64) {
	for _, c := range st.Consumers {
		records = max(records, c.Lag)
	}
	return records
}

// LagTime is that of the consumer that is furthest behind by ts, in the stream's
// unit; 0 without one.
func (st Stats) LagTime() (units int64) {
	for _, c := range st.Consumers {
		units = max(units, c.LagTime)
	}
	return units
}

// Stats returns the stream's figures. It reads the times in memory, and a small
// file for each consumer; of sealed files it reads nothing. So a lag by ts that
// begins in one counts from the smallest ts there, and is rather too long.
func (s *Stream) Stats() (Stats, error) {
	s.mu.Lock()
	c := s.counts
	st := Stats{NextSeq: Seq(s.appended), DurableSeq: Seq(s.durable), Appends: c.appends, Appended: c.records, Dropped: c.dropped,
		Syncs: c.syncs, Waits: c.waits, Rolls: c.rolls, Seals: c.seals, SealErrors: c.sealErrors, Poisoned: s.fail != nil}
	for _, m := range s.live {
		if m.ended {
			st.Sealing++
		}
	}
	oldest, newest, waits := s.unsynced()
	s.mu.Unlock()
	st.Snapshots, st.Leaked = int(s.views.snapshots()), leaked.Load()
	n, err := s.Snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer n.Close()
	if err := st.add(n); err != nil {
		return Stats{}, err
	}
	if waits { // readers of a Commit stream don't see these yet
		st.DurableLag = since(max(newest, st.MaxTime), oldest)
	}
	st.Consumers, st.ConsumersErr = st.consumersOf(n, s.fsys, s.dir, s.id)
	return st, nil
}

// unsynced returns the times of the first record that is not on disk and of the
// newest, if both are in memory. Under mu.
func (s *Stream) unsynced() (oldest, newest int64, ok bool) {
	if s.durable >= s.appended {
		return 0, 0, false
	}
	oldest, found := s.timeInMemory(s.durable)
	newest, ok = s.timeInMemory(s.appended - 1)
	return oldest, newest, ok && found
}

// timeInMemory is the time of record seq, if it is in memory. Under mu.
func (s *Stream) timeInMemory(seq uint64) (t int64, ok bool) {
	for _, m := range s.live {
		if m.first <= seq && seq < m.end() {
			return schema.Time(m.rows[int(seq-m.first)*s.width:]), true
		}
	}
	return 0, false
}

// since is how much later a time is than another, at least 0.
func since(later, earlier int64) int64 {
	if later <= earlier {
		return 0
	}
	if d := later - earlier; d > 0 {
		return d
	}
	return math.MaxInt64 // more than fits
}

// add fills in what a snapshot shows.
func (st *Stats) add(n *Snapshot) error {
	segs, err := n.Segments()
	if err != nil {
		return err
	}
	st.Segments = len(segs)
	st.FirstSeq = n.First()
	for _, g := range segs {
		if g.Count > 0 && (st.Records == 0 || g.MinTime < st.MinTime) {
			st.MinTime = g.MinTime
		}
		if g.Count > 0 && (st.Records == 0 || g.MaxTime > st.MaxTime) {
			st.MaxTime = g.MaxTime
		}
		st.Records += g.Count
		if g.State == "sealed" || g.Count > 0 {
			st.Bytes += g.Bytes
		}
	}
	if t, ok := n.timeFrom(st.DurableSeq); ok {
		st.DurableLag = since(st.MaxTime, t)
	}
	return nil
}

// consumersOf reads the consumers, for a snapshot whose times are added.
func (st *Stats) consumersOf(n *Snapshot, fsys disk.FS, dir string, id [16]byte) ([]ConsumerInfo, error) {
	list, err := consumers(fsys, dir, id, n.end)
	for i := range list {
		if t, ok := n.timeFrom(list[i].Position); ok {
			list[i].LagTime = since(st.MaxTime, t)
		}
	}
	return list, err
}

// timeFrom is the time of record seq or, if a file has it, the smallest there,
// which needs no look at its values. ok is false where there is none.
func (n *Snapshot) timeFrom(seq Seq) (t int64, ok bool) {
	at := max(uint64(seq), n.first)
	if at >= n.end {
		return 0, false
	}
	p, found := n.find(at, 0)
	switch {
	case found > at:
		return 0, false
	case p.file != nil:
		return p.file.Header().MinTime, true
	}
	return schema.Time(p.mem.rows[int(at-p.mem.first)*n.s.Width():]), true
}
