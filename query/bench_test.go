package query

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"

	"example.com/ledger/internal/kern"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// The questions Q1 to Q8 of the performance targets, over fills of a day: one a
// millisecond, 64 instruments of uneven popularity, 1,000 accounts. The number
// of records is 1,000,000 unless LEDGER_BENCH_RECORDS says otherwise; the
// targets are for 10,000,000.

const benchStart = int64(1_700_000_040_000_000_000) // a whole minute

func benchRecords() int {
	if n, err := strconv.Atoi(os.Getenv("LEDGER_BENCH_RECORDS")); err == nil {
		return n
	}
	return 1_000_000
}

// benchFills writes n fills, as rows, from record first on.
func benchFills(dst []byte, first, n int, popular *[1 << 16]uint16) {
	for i := range n {
		r := rng(uint64(first+i) * 7919)
		u, v := r.next(), r.next()
		rec := dst[i*40:][:40]
		le := binary.LittleEndian
		le.PutUint64(rec[8:], uint64(benchStart+int64(first+i)*1_000_000))
		le.PutUint32(rec[16:], uint32(6_412_350+int(u&0x7ff)+int(u>>11&0x7ff)-2047)) // px
		le.PutUint32(rec[20:], 1+uint32(u>>22&0xffff)*50>>16)                        // qty
		le.PutUint32(rec[24:], uint32(v&0xffffffff*1000>>32))                        // taker
		le.PutUint32(rec[28:], uint32(v>>32*1000>>32))                               // maker
		le.PutUint16(rec[32:], popular[u>>48])                                       // sym
		rec[34], rec[35] = byte(u>>40&1), byte(u>>41&3)                              // side, flags
	}
}

func popularity() *[1 << 16]uint16 {
	var cum [64]float64
	total := 0.0
	for i := range cum {
		total += 1 / float64(i+1)
		cum[i] = total
	}
	t := new([1 << 16]uint16)
	for i := range t {
		t[i] = uint16(sort.SearchFloat64s(cum[:], (float64(i)+.5)/65536*total))
	}
	return t
}

// benchSnapshot makes the stream once for all benchmarks of a layout.
var benchSnapshot = map[segment.Layout]func() (*stream.Snapshot, error){
	segment.Columns: sync.OnceValues(func() (*stream.Snapshot, error) { return makeBench(segment.Columns) }),
	segment.Rows:    sync.OnceValues(func() (*stream.Snapshot, error) { return makeBench(segment.Rows) }),
}

var benchDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if benchDir != "" {
		os.RemoveAll(benchDir)
	}
	os.Exit(code)
}

func makeBench(layout segment.Layout) (*stream.Snapshot, error) {
	if benchDir == "" {
		dir, err := os.MkdirTemp("", "ledger-bench")
		if err != nil {
			return nil, err
		}
		benchDir = dir
	}
	st, err := stream.Create(filepath.Join(benchDir, layout.String()), stream.Options{
		Schema: shapes.FillSchema(), Durability: stream.Os, Layout: layout,
	})
	if err != nil {
		return nil, err
	}
	popular := popularity()
	const batch = 4096
	rows := make([]byte, batch*40)
	for at := 0; at < benchRecords(); at += batch {
		n := min(batch, benchRecords()-at)
		benchFills(rows, at, n, popular)
		if _, _, err := st.Append(rows[:n*40]); err != nil {
			return nil, err
		}
	}
	if err := st.Seal(); err != nil {
		return nil, err
	}
	return st.Snapshot()
}

// questions are Q1 to Q7.
func questions(v *stream.Snapshot) []struct {
	name string
	q    *Query
	aggs []Agg
} {
	minute := benchStart + int64(benchRecords()/2)*1_000_000
	vwap := []Agg{VWAP("px", "qty"), Sum("qty")}
	return []struct {
		name string
		q    *Query
		aggs []Agg
	}{
		{"1-vwap", From(v), vwap},
		{"2-vwap-where-sym", From(v).Where(Eq("sym", 3)), vwap},
		{"3-vwap-where-px-and-side", From(v).Where(And(Between("px", 6_412_050, 6_412_650), Eq("side", shapes.Buy))), vwap},
		{"4-vwap-by-sym", From(v).By("sym"), vwap},
		{"5-candles-by-sym", From(v).By("sym").Every(time.Minute), []Agg{First("px"), Max("px"), Min("px"), Last("px"), Sum("qty"), Count()}},
		{"6-count-where-taker", From(v).Where(Eq("taker", 417)), []Agg{Count()}},
		{"7-one-minute", From(v).Times(minute, minute+60_000_000_000), vwap},
	}
}

// BenchmarkQuestions runs Q1 to Q7; records/s counts all records of the stream,
// also those that were skipped.
func BenchmarkQuestions(b *testing.B) {
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		v, err := benchSnapshot[layout]()
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range questions(v) {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("q=%s/layout=%v/workers=%d", x.name, layout, workers), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := x.q.Workers(workers).Run(context.Background(), x.aggs...); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(benchRecords())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
				})
			}
		}
	}
}

// BenchmarkFloor adds up the bytes of the columns that Q1 reads, with the sum
// kernel: what the machine's memory gives.
func BenchmarkFloor(b *testing.B) {
	v, err := benchSnapshot[segment.Columns]()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("op=sum/columns=px+qty", func(b *testing.B) {
		b.SetBytes(int64(8 * benchRecords()))
		for b.Loop() {
			var sum int64
			for p, err := range v.Parts(v.First(), v.End()) {
				if err != nil {
					b.Fatal(err)
				}
				g, err := p.Acquire()
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range []string{"px", "qty"} {
					c, err := segment.ColumnOf[int32](g, f)
					if err != nil {
						b.Fatal(err)
					}
					x, ok := c.Slice()
					if !ok {
						b.Skip("the columns are not contiguous on this machine")
					}
					sum += kern.Sum(words[uint32](vec{p: unsafe.Pointer(unsafe.SliceData(x)), n: len(x), kind: schema.U32}), true)
				}
				p.Release()
			}
			_ = sum
		}
		b.ReportMetric(float64(benchRecords())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
	})
}

// BenchmarkGet is Q8: one record by its number, all fields.
func BenchmarkGet(b *testing.B) {
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		v, err := benchSnapshot[layout]()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("q=8-get/layout=%v", layout), func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 40)
			r, n := rng(1), uint64(benchRecords())
			for b.Loop() {
				if _, err := v.Get(buf, stream.Seq(r.next()%n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
