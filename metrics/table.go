package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/ledger/stream"
)

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// figures are what a stream's metrics are made of.
type figures struct {
	stream.Stats
	perSecond float64 // of its unit of time
}

// A metric is one figure of each stream.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(figures) float64
}

func ofStream(name string, kind prometheus.ValueType, help string, value func(figures) float64) metric {
	return metric{prometheus.NewDesc("ledger_"+name, help, []string{"stream"}, nil), kind, value}
}

// both are what a writer and a reader know.
var both = []metric{
	ofStream("records", gauge, "Records that are there.",
		func(f figures) float64 { return float64(f.Records) }),
	ofStream("segments", gauge, "Segments: sealed, being sealed, and active.",
		func(f figures) float64 { return float64(f.Segments) }),
	ofStream("size_bytes", gauge, "Bytes of the sealed files, and of the rows in memory.",
		func(f figures) float64 { return float64(f.Bytes) }),
	ofStream("first_sequence", gauge, "Number of the first record that is there.",
		func(f figures) float64 { return float64(f.FirstSeq) }),
	ofStream("next_sequence", gauge, "Number that the next record gets.",
		func(f figures) float64 { return float64(f.NextSeq) }),
	ofStream("durable_sequence", gauge, "Records below this number are on disk.",
		func(f figures) float64 { return float64(f.DurableSeq) }),
	ofStream("durable_lag_records", gauge, "Records that were appended and are not on disk yet. It only grows on a stream that doesn't sync.",
		func(f figures) float64 { return float64(f.NextSeq - min(f.NextSeq, f.DurableSeq)) }),
	ofStream("durable_lag_seconds", gauge, "From the ts of the first record that is not on disk to the newest: how much of the tape a power loss would take.",
		func(f figures) float64 { return float64(f.DurableLag) / f.perSecond }),
	ofStream("oldest_timestamp_seconds", gauge, "Smallest ts of the records that are there; 0 if there are none.",
		func(f figures) float64 { return float64(f.MinTime) / f.perSecond }),
	ofStream("newest_timestamp_seconds", gauge, "Largest ts of the records that are there; 0 if there are none.",
		func(f figures) float64 { return float64(f.MaxTime) / f.perSecond }),
	ofStream("open_snapshots", gauge, "Snapshots of this process that are open.",
		func(f figures) float64 { return float64(f.Snapshots) }),
	ofStream("dropped_records_total", counter, "Records that are gone: by the writer's retention since it opened the stream; for a reader, all.",
		func(f figures) float64 { return float64(f.Dropped) }),
}

// written are what a writer knows of its own work, since it opened the stream.
var written = []metric{
	ofStream("appends_total", counter, "Batches appended.",
		func(f figures) float64 { return float64(f.Appends) }),
	ofStream("appended_records_total", counter, "Records appended.",
		func(f figures) float64 { return float64(f.Appended) }),
	ofStream("append_waits_total", counter, "Appends that waited for a segment to be sealed.",
		func(f figures) float64 { return float64(f.Waits) }),
	ofStream("syncs_total", counter, "Syncs of journals.",
		func(f figures) float64 { return float64(f.Syncs) }),
	ofStream("rolls_total", counter, "Segments begun.",
		func(f figures) float64 { return float64(f.Rolls) }),
	ofStream("seals_total", counter, "Segments sealed.",
		func(f figures) float64 { return float64(f.Seals) }),
	ofStream("seal_failures_total", counter, "Failed tries to seal a segment.",
		func(f figures) float64 { return float64(f.SealErrors) }),
	ofStream("seal_backlog_segments", gauge, "Segments that wait to be sealed. With two, appends that need another wait.",
		func(f figures) float64 { return float64(f.Sealing) }),
	ofStream("poisoned", gauge, "1 after a failed write or sync: nothing is appended until the stream is opened again.",
		func(f figures) float64 { return number(f.Poisoned) }),
}

// consumerFigures are what a consumer's metrics are made of.
type consumerFigures struct {
	stream.ConsumerInfo
	perSecond float64 // of the stream's unit of time
}

// A consumerMetric is one figure of each consumer.
type consumerMetric struct {
	desc  *prometheus.Desc
	value func(consumerFigures) float64
}

func ofConsumer(name, help string, value func(consumerFigures) float64) consumerMetric {
	return consumerMetric{prometheus.NewDesc("ledger_consumer_"+name, help, []string{"stream", "consumer"}, nil), value}
}

var consumed = []consumerMetric{
	ofConsumer("lag_records", "Records published that the consumer has not committed.",
		func(c consumerFigures) float64 { return float64(c.Lag) }),
	ofConsumer("lag_seconds", "The same by ts: from the first record that the consumer has not committed to the newest.",
		func(c consumerFigures) float64 { return float64(c.LagTime) / c.perSecond }),
	ofConsumer("next_sequence", "Number of the record that the consumer reads next.",
		func(c consumerFigures) float64 { return float64(c.Position) }),
	ofConsumer("hold_records", "Records that retention keeps for the consumer at most; 0 if none.",
		func(c consumerFigures) float64 { return float64(c.Hold) }),
	ofConsumer("commit_timestamp_seconds", "When the consumer last committed.",
		func(c consumerFigures) float64 { return float64(c.At.UnixMilli()) / 1e3 }),
}

var (
	up = prometheus.NewDesc("ledger_up", "1 if the stream's figures could be read.", []string{"stream"}, nil)

	about = prometheus.NewDesc("ledger_stream_info", "Always 1; the labels say what the stream is.",
		[]string{"stream", "durability", "layout"}, nil)

	leaked = prometheus.NewDesc("ledger_leaked_snapshots_total", "Snapshots of the process that were collected without having been closed.", nil, nil)
)
