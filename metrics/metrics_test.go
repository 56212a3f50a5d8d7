package metrics

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// made makes a stream with 100 fills in segments of 64, the first of which is
// dropped, and a consumer.
func made(t *testing.T) *stream.Stream {
	t.Helper()
	s, err := stream.Create(filepath.Join(t.TempDir(), "fills"), stream.Options{Schema: shapes.FillSchema(), Capacity: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	recs := make([]byte, 50*s.Schema().Width())
	for k := range 2 {
		for i := range 50 {
			schema.PutTime(recs[i*s.Schema().Width():], int64(k*50+i)*1e9)
		}
		if _, _, err := s.Append(recs); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Retain(retention.Policy{BeforeSeq: 64}, false); err != nil {
		t.Fatal(err)
	}
	c, err := stream.OpenConsumer(s.Info().Dir, "risk")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(90); err != nil {
		t.Fatal(err)
	}
	if err := c.Hold(7); err != nil {
		t.Fatal(err)
	}
	return s
}

func gather(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, l := range m.Label {
				if l.GetName() == "consumer" || l.GetName() == "durability" {
					name += "/" + l.GetValue()
				}
			}
			switch {
			case m.Counter != nil:
				got[name] = m.Counter.GetValue()
			case m.Gauge != nil:
				got[name] = m.Gauge.GetValue()
			case m.Histogram != nil:
				got[name] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return got
}

func TestFigures(t *testing.T) {
	s := made(t)
	c := NewCollector()
	c.Add("fills", s)
	observe := c.SyncObserver("fills")
	observe(time.Millisecond)
	observe(time.Hour)
	st, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}
	got := gather(t, c)
	at := got["ledger_consumer_commit_timestamp_seconds/risk"]
	if age := time.Since(time.UnixMilli(int64(at * 1e3))); age < 0 || age > time.Hour {
		t.Errorf("the consumer's commit is %v old", age)
	}
	want := map[string]float64{
		"ledger_up": 1, "ledger_stream_info/commit": 1, "ledger_poisoned": 0,
		"ledger_records": 36, "ledger_segments": float64(st.Segments), "ledger_size_bytes": float64(st.Bytes),
		"ledger_first_sequence": 64, "ledger_next_sequence": 100, "ledger_durable_sequence": 100, "ledger_durable_lag_records": 0, "ledger_durable_lag_seconds": 0,
		"ledger_oldest_timestamp_seconds": 64, "ledger_newest_timestamp_seconds": 99,
		"ledger_open_snapshots": 0, "ledger_leaked_snapshots_total": float64(st.Leaked), "ledger_dropped_records_total": 64,
		"ledger_appends_total": 2, "ledger_appended_records_total": 100, "ledger_append_waits_total": float64(st.Waits),
		"ledger_syncs_total": float64(st.Syncs), "ledger_rolls_total": float64(st.Rolls), "ledger_seals_total": 2,
		"ledger_seal_failures_total": 0, "ledger_seal_backlog_segments": 0, "ledger_sync_duration_seconds": 2,
		"ledger_consumer_lag_records/risk": 10, "ledger_consumer_lag_seconds/risk": 99 - 64, "ledger_consumer_next_sequence/risk": 90, "ledger_consumer_hold_records/risk": 7,
		"ledger_consumer_commit_timestamp_seconds/risk": at,
	}
	for name, w := range want {
		if g, ok := got[name]; !ok || g != w {
			t.Errorf("%s is %v (%t), want %v", name, g, ok, w)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not expected", name)
		}
	}
	if st.Syncs == 0 || st.Bytes == 0 {
		t.Errorf("stats %+v: the test tests nothing", st)
	}
}

// TestReader: a reader's metrics are the same but for the writer's work.
func TestReader(t *testing.T) {
	s := made(t)
	r, err := stream.OpenReader(s.Info().Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := NewCollector()
	c.AddReader("fills", r)
	got := gather(t, c)
	for name, want := range map[string]float64{"ledger_next_sequence": 100, "ledger_records": 36, "ledger_dropped_records_total": 64,
		"ledger_consumer_lag_records/risk": 10, "ledger_up": 1} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	for _, m := range written {
		if name, _, _ := strings.Cut(strings.TrimPrefix(m.desc.String(), `Desc{fqName: "`), `"`); !math.IsNaN(missing(got, name)) {
			t.Errorf("%s is shown of a reader", name)
		}
	}
}

func missing(got map[string]float64, name string) float64 {
	if v, ok := got[name]; ok {
		return v
	}
	return math.NaN()
}

// TestNames: the names keep the conventions, units and help included.
func TestNames(t *testing.T) {
	c := NewCollector()
	c.Add("fills", made(t))
	c.SyncObserver("fills")(time.Millisecond)
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestClosed: a stream that can't be read is down, and the others are shown.
func TestClosed(t *testing.T) {
	s := made(t)
	r, err := stream.OpenReader(s.Info().Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCollector()
	c.AddReader("closed", r)
	c.Add("fills", s)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := `# HELP ledger_up 1 if the stream's figures could be read.
# TYPE ledger_up gauge
ledger_up{stream="closed"} 0
ledger_up{stream="fills"} 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "ledger_up"); err != nil {
		t.Error(err)
	}
	c.Remove("closed")
	c.Remove("closed")
	if got := gather(t, c); got["ledger_up"] != 1 {
		t.Errorf("after Remove: %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("two streams of one name")
		}
	}()
	c.Add("fills", s)
}

func ExampleCollector() {
	c := NewCollector()
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	// c.Add("fills", s) for each stream; promhttp.HandlerFor(reg, …) serves it.
	n, err := testutil.GatherAndCount(reg)
	fmt.Println(n, err)
	// Output: 1 <nil>
}
