package cli

import (
	"math"
	"time"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// A factRow writes facts about streams and segments: times as people read them,
// or as integers.
type factRow struct {
	listing.Row
	raw bool
}

// time adds a time in the unit u.
func (r *factRow) time(ts int64, u schema.Unit) {
	if r.raw {
		r.Int(ts)
		return
	}
	r.Buf = value.AppendTime(r.Buf, ts, u)
	r.End()
}

// times adds the smallest and the largest time of n records: nothing if n is 0.
func (r *factRow) times(lo, hi int64, u schema.Unit, n uint64) {
	if n == 0 {
		r.Empty()
		r.Empty()
		return
	}
	r.time(lo, u)
	r.time(hi, u)
}

// sealedAt adds Unix milliseconds, or nothing for 0.
func (r *factRow) sealedAt(ms int64) {
	if ms == 0 {
		r.Empty()
		return
	}
	r.time(ms, schema.Millisecond)
}

// duration adds a duration, or nothing for 0.
func (r *factRow) duration(d time.Duration) {
	if d != 0 {
		r.Buf = append(r.Buf, value.FormatDuration(d)...)
	}
	r.End()
}

// span adds how much later one time of the unit u is than another.
func (r *factRow) span(n int64, u schema.Unit) {
	if r.raw {
		r.Int(n)
		return
	}
	r.Buf = append(r.Buf, value.FormatDuration(toDuration(n, u))...)
	r.End()
}

// toDuration is n units, or the longest duration if it is longer.
func toDuration(n int64, u schema.Unit) time.Duration {
	each := int64(time.Second) / u.PerSecond()
	if n > math.MaxInt64/each {
		return math.MaxInt64
	}
	return time.Duration(n * each)
}

// durationKind is the kind of columns of times between two times.
func (l *listFlags) durationKind() listing.Kind {
	if l.rawValues {
		return listing.Exact
	}
	return listing.Text
}

// timeKind is the kind of columns of times.
func (l *listFlags) timeKind() listing.Kind {
	if l.rawValues {
		return listing.Exact
	}
	return listing.Time
}

// statColumns are those of stat.
func statColumns(l *listFlags) []listing.Column {
	return []listing.Column{
		{Name: "records", Kind: listing.Number},
		{Name: "segments", Kind: listing.Number},
		{Name: "bytes", Kind: listing.Number},
		{Name: "first_seq", Kind: listing.Exact},
		{Name: "next_seq", Kind: listing.Exact},
		{Name: "durable_seq", Kind: listing.Exact},
		{Name: "min_ts", Kind: l.timeKind()},
		{Name: "max_ts", Kind: l.timeKind()},
		{Name: "appended", Kind: listing.Number},
		{Name: "dropped", Kind: listing.Number},
		{Name: "syncs", Kind: listing.Number},
		{Name: "durability"},
		{Name: "layout"},
		{Name: "capacity", Kind: listing.Number},
		{Name: "width", Kind: listing.Number},
		{Name: "sync_every"},
		{Name: "retention"},
		{Name: "schema"},
		{Name: "consumers", Kind: listing.Number},
		{Name: "lag", Kind: listing.Number},
		{Name: "lag_time", Kind: l.durationKind()},
	}
}

// stat adds the cells of statColumns.
func (r *factRow) stat(s stream.Stats, i stream.Info) {
	r.Uint(s.Records)
	r.Int(int64(s.Segments))
	r.Int(s.Bytes)
	r.Uint(uint64(s.FirstSeq))
	r.Uint(uint64(s.NextSeq))
	r.Uint(uint64(s.DurableSeq))
	r.times(s.MinTime, s.MaxTime, i.Schema.Unit(), s.Records)
	r.Uint(uint64(s.NextSeq)) // numbers are dense: that many have been appended
	r.Uint(s.Dropped)
	r.Empty() // syncs are counted in the writer's process
	r.Text(i.Durability.String())
	r.Text(i.Layout.String())
	r.Int(int64(i.Capacity))
	r.Int(int64(i.Schema.Width()))
	r.duration(i.SyncEvery)
	r.Text(policyText(i.Retention, i.Schema.Unit()))
	r.Text(i.Schema.String())
	if s.ConsumersErr != nil {
		r.Empty()
		r.Empty()
		r.Empty()
		return
	}
	r.Int(int64(len(s.Consumers)))
	r.Uint(s.Lag())
	r.span(s.LagTime(), i.Schema.Unit())
}
