package stream

import "example.com/ledger/schema"

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
	DurableLag int64 // from the time of the first record that is not on disk to MaxTime, in the stream's unit; 0 if all are

	Consumers    []ConsumerInfo // by name
	ConsumersErr error          // why Consumers is empty: the other figures are right

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

// Stats returns the stream's figures. It reads the times in memory, and a small
// file for each consumer.
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
	s.mu.Unlock()
	st.Snapshots, st.Leaked = int(s.views.snapshots()), leaked.Load()
	n, err := s.Snapshot()
	if err != nil {
		return Stats{}, err
	}
	defer n.Close()
	st.Consumers, st.ConsumersErr = s.Consumers()
	return st, st.add(n)
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
		st.DurableLag = max(0, st.MaxTime-t)
	}
	return nil
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
