package stream

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

// Stats returns the stream's figures. It reads the times in memory.
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
	return nil
}
