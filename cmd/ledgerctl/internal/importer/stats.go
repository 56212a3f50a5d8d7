package importer

import (
	"hash/maphash"

	"example.com/ledger/schema"
)

// seenRecords is how many records back a duplicate is found at least.
const seenRecords = 1 << 20

// stats are the facts about records that the report has.
type stats struct {
	s               *schema.Schema
	key             []int // fields that no two records share; none: all bytes but seq
	qty, venue      int   // fields; −1 for none
	last, lastVenue int64
	r               Report
	seen            seen
	buf             []byte
}

func (st *stats) init(s *schema.Schema, key []string) {
	st.s, st.qty, st.venue = s, -1, -1
	if i, ok := s.Index("qty"); ok {
		st.qty = i
	}
	if i, ok := s.Index("venue_ts"); ok {
		st.venue = i
	}
	for _, name := range key {
		i, ok := s.Index(name)
		if !ok {
			st.key = nil // without all of it, it is no key
			break
		}
		st.key = append(st.key, i)
	}
	st.seen = seen{seed: maphash.MakeSeed(), size: seenRecords}
}

func (st *stats) add(rec []byte) {
	r, ts := &st.r, schema.Time(rec)
	if r.Records == 0 {
		r.MinTime, r.MaxTime = ts, ts
	} else if ts < st.last {
		r.Backward++
	}
	r.MinTime, r.MaxTime, st.last = min(r.MinTime, ts), max(r.MaxTime, ts), ts
	if st.venue >= 0 {
		v := st.s.Int(rec, st.venue)
		if r.Records > 0 && v < st.lastVenue {
			r.VenueBackward++
		}
		st.lastVenue = v
	}
	if st.qty >= 0 && st.s.Int(rec, st.qty) == 0 {
		r.ZeroQty++
	}
	r.Records++
	key := rec[8:]
	if st.key != nil {
		st.buf = st.buf[:0]
		for _, i := range st.key {
			v := st.s.Uint(rec, i)
			for range 8 {
				st.buf = append(st.buf, byte(v))
				v >>= 8
			}
		}
		key = st.buf
	}
	if st.seen.add(key) {
		r.Duplicates++
	}
}

// into copies the facts to a report.
func (st *stats) into(r *Report) {
	f := &st.r
	r.Records, r.MinTime, r.MaxTime = f.Records, f.MinTime, f.MaxTime
	r.Backward, r.VenueBackward, r.Duplicates, r.ZeroQty = f.Backward, f.VenueBackward, f.Duplicates, f.ZeroQty
}

// seen remembers the newest keys, size to twice that many, by their hashes of
// 64 bits: two keys in a million million look the same.
type seen struct {
	seed     maphash.Seed
	size     int
	now, old map[uint64]struct{}
}

// add remembers a key and tells whether it was there.
func (s *seen) add(key []byte) bool {
	h := maphash.Bytes(s.seed, key)
	if _, ok := s.now[h]; ok {
		return true
	}
	_, ok := s.old[h]
	if len(s.now) >= s.size {
		s.old, s.now = s.now, nil
	}
	if s.now == nil {
		s.now = make(map[uint64]struct{})
	}
	s.now[h] = struct{}{}
	return ok
}
