// Package metrics shows streams to Prometheus.
//
//	c := metrics.NewCollector()
//	c.Add("fills", s)
//	prometheus.MustRegister(c)
//
// A scrape asks each stream for its figures (Stream.Stats), which
// holds up appends for less than a microsecond. Nothing is counted between
// scrapes but the times of syncs, for which see SyncObserver. The metrics and what
// they mean are in docs/operations.md, a dashboard and alerts in docs/operations.
package metrics

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// A Collector is a prometheus.Collector of any number of streams, told apart by
// the label "stream". Its methods may be called from any number of goroutines.
type Collector struct {
	syncs *prometheus.HistogramVec

	mu      sync.Mutex
	sources map[string]source
}

var _ prometheus.Collector = (*Collector)(nil)

// A source is what a stream and a reader have in common.
type source interface {
	Info() stream.Info
	Schema() *schema.Schema
	Stats() (stream.Stats, error)
}

// syncBuckets reach from a disk with a write cache that needs no flush to one that
// is about to fail, in seconds.
var syncBuckets = prometheus.ExponentialBuckets(25e-6, 2, 18) // to 3.3 s

// NewCollector returns a Collector of no streams.
func NewCollector() *Collector {
	return &Collector{
		sources: make(map[string]source),
		syncs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ledger_sync_duration_seconds",
			Help:    "How long syncs of journals took, where the program measures them.",
			Buckets: syncBuckets,
		}, []string{"stream"}),
	}
}

// Add shows a stream under a name, which is the value of the label "stream". It
// panics if there is one of that name. Remove it before it is closed:
// afterwards it shows what it was last.
func (c *Collector) Add(name string, s *stream.Stream) { c.add(name, s) }

// AddReader shows what a reader knows of a stream that another process writes:
// sizes, sequence numbers and consumers, but nothing of the writer's own work.
func (c *Collector) AddReader(name string, r *stream.Reader) { c.add(name, r) }

func (c *Collector) add(name string, s source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.sources[name]; ok {
		panic(fmt.Sprintf("metrics: two streams with the name %q", name))
	}
	c.sources[name] = s
}

// Remove ends the showing of a stream. It does nothing if there is none.
func (c *Collector) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sources, name)
	c.syncs.DeleteLabelValues(name)
}

// SyncObserver returns a function that counts how long one sync of the stream of
// that name took, in the histogram ledger_sync_duration_seconds. It may be called
// from any number of goroutines, and waits for nothing.
func (c *Collector) SyncObserver(name string) func(time.Duration) {
	h := c.syncs.WithLabelValues(name)
	return func(d time.Duration) { h.Observe(d.Seconds()) }
}

// Describe is for the registry.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range both {
		ch <- m.desc
	}
	for _, m := range written {
		ch <- m.desc
	}
	for _, m := range consumed {
		ch <- m.desc
	}
	ch <- up
	ch <- about
	ch <- leaked
	c.syncs.Describe(ch)
}

// Collect is for the registry.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	sources := maps.Clone(c.sources)
	c.mu.Unlock()
	var lost int64
	for name, s := range sources {
		lost = max(lost, collect(ch, name, s))
	}
	ch <- prometheus.MustNewConstMetric(leaked, prometheus.CounterValue, float64(lost))
	c.syncs.Collect(ch)
}

// collect sends a stream's metrics. It returns the process's count of snapshots
// that nobody closed.
func collect(ch chan<- prometheus.Metric, name string, s source) (lost int64) {
	info := s.Info()
	ch <- prometheus.MustNewConstMetric(about, prometheus.GaugeValue, 1, name, info.Durability.String(), info.Layout.String())
	st, err := s.Stats()
	ok := err == nil && st.ConsumersErr == nil
	ch <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, number(ok), name)
	perSecond := float64(s.Schema().Unit().PerSecond())
	if err == nil {
		f := figures{st, perSecond}
		for _, m := range both {
			ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(f), name)
		}
		if _, writer := s.(*stream.Stream); writer {
			for _, m := range written {
				ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(f), name)
			}
		}
	}
	for _, i := range st.Consumers {
		for _, m := range consumed {
			ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value(consumerFigures{i, perSecond}), name, i.Name)
		}
	}
	return st.Leaked
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
