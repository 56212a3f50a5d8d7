package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// venueFiles are the real files beside a checkout that has them.
const venueFiles = "../../../shared/data"

// must runs the command with input, which may be nil, to its end.
func must(t *testing.T, input io.Reader, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ledgerctl", args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.Stdin = input
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	return out
}

// content returns a stream's schema, records and texts.
func content(t *testing.T, dir string) (*schema.Schema, []byte, map[string][]string) {
	t.Helper()
	r, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var recs []byte
	for b, err := range v.Range(v.First(), v.End()) {
		if err == nil {
			recs, err = b.Rows(recs)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := dictionary.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r.Schema(), recs, d.Texts()
}

// TestRoundTrip imports every real file, writes it in every format, and reads each
// back: as text by append into another stream, which must hold the same bytes; as
// Arrow, Parquet and a segment value by value.
func TestRoundTrip(t *testing.T) {
	if _, err := os.Stat(venueFiles); err != nil {
		t.Skip("no ../shared/data beside this checkout: the venues' files are not part of it")
	}
	for name, preset := range map[string]string{
		"lobster_AAPL_2012-06-21_message_50.csv":          "lobster",
		"binance_spot_BTCUSDT-trades-2024-08-08_part.csv": "binance-trades",
		"binance_um_BTCUSDT-trades-2024-08-08_part.csv":   "binance-trades",
		"binance_spot_XRPETH-aggTrades-2019-10-11_13.csv": "binance-aggtrades",
		"bitstamp_orders_20150501.csv":                    "bitstamp",
		"kraken_BCHEUR.csv":                               "kraken",
		"coinbase_matches_20210417.ndjson":                "coinbase",
		"freqtrade_public_trades_list.csv":                "freqtrade",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			must(t, nil, "import", dir, filepath.Join(venueFiles, name), "--preset", preset, "-q", "--durability", "os")
			s, recs, texts := content(t, dir)
			if len(recs) == 0 {
				t.Fatal("nothing was imported")
			}
			for _, format := range []string{"csv", "jsonl"} {
				dump := must(t, nil, "dump", dir, "--format", format)
				path := dir + "." + format
				must(t, nil, "export", dir, "-o", path, "-q")
				if exported, err := os.ReadFile(path); err != nil || !bytes.Equal(exported, dump) {
					t.Errorf("%s: export and dump differ (%v)", format, err)
				}
				back(t, dir+"-"+format, s, texts, bytes.NewReader(dump))
				if _, again, _ := content(t, dir+"-"+format); !bytes.Equal(again, recs) {
					t.Errorf("%s: other records came back", format)
				}
				if again := must(t, nil, "dump", dir+"-"+format, "--format", format); !bytes.Equal(again, dump) {
					t.Errorf("%s: the copy prints other text", format)
				}
			}
			for format, read := range map[string]func(*testing.T, string, func(apache.RecordBatch)){"arrow": readArrow, "parquet": readParquet} {
				path, row := dir+"."+format, 0
				must(t, nil, "export", dir, "-o", path, "-q")
				read(t, path, func(b apache.RecordBatch) {
					for i := range int(b.NumRows()) {
						sameRow(t, s, texts, b, i, recs[row*s.Width():(row+1)*s.Width()])
						row++
					}
				})
				if row != len(recs)/s.Width() {
					t.Errorf("%s: %d rows, want %d", format, row, len(recs)/s.Width())
				}
			}
			sameSegment(t, dir, s, recs)
		})
	}
}

// back appends text to a new stream of the same schema.
func back(t *testing.T, dir string, s *schema.Schema, texts map[string][]string, in io.Reader) {
	t.Helper()
	st, err := stream.Create(dir, stream.Options{Schema: s, Durability: stream.Os})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"append", dir, "-q"}
	for field := range texts {
		args = append(args, "--learn", field)
	}
	must(t, in, args...)
	must(t, nil, "verify", dir)
}

func readArrow(t *testing.T, path string, each func(apache.RecordBatch)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		each(b)
		b.Release()
	}
}

func readParquet(t *testing.T, path string, each func(apache.RecordBatch)) {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fr, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fr.GetRecordReader(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		each(r.RecordBatch())
	}
	if err := r.Err(); err != nil && err != io.EOF {
		t.Fatal(err)
	}
}

// sameRow compares row i of a batch with a record.
func sameRow(t *testing.T, s *schema.Schema, texts map[string][]string, b apache.RecordBatch, i int, rec []byte) {
	t.Helper()
	if int(b.NumCols()) != 2+s.NumFields() {
		t.Fatalf("%d columns for %s", b.NumCols(), s)
	}
	for c := range int(b.NumCols()) {
		want, text := int64(schema.Seq(rec)), ""
		switch {
		case c == 1:
			want = schema.Time(rec)
		case c > 1:
			want = s.Int(rec, c-2)
			if list := texts[s.Field(c-2).Name]; want > 0 && want <= int64(len(list)) {
				text = list[want-1]
			}
		}
		switch a := b.Column(c).(type) {
		case *array.String:
			if text == "" {
				text = strconv.FormatInt(want, 10)
			}
			if got := a.Value(i); got != text {
				t.Fatalf("record %d, %s: %q, want %q", schema.Seq(rec), b.ColumnName(c), got, text)
			}
		default:
			if got := bits(t, a, i); got != want || text != "" {
				t.Fatalf("record %d, %s: %d, want %d %s", schema.Seq(rec), b.ColumnName(c), got, want, text)
			}
		}
	}
}

// bits returns a number of an Arrow array, unscaled, as a record has it.
func bits(t *testing.T, a apache.Array, i int) int64 {
	t.Helper()
	switch a := a.(type) {
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Decimal128:
		return int64(a.Value(i).LowBits())
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Uint64:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	}
	t.Fatalf("array of %v", a.DataType())
	return 0
}

// sameSegment exports one segment and compares its rows.
func sameSegment(t *testing.T, dir string, s *schema.Schema, recs []byte) {
	t.Helper()
	path := filepath.Join(filepath.Dir(dir), segment.Name(0))
	must(t, nil, "export", dir, "-o", path, "-q")
	if out := must(t, nil, "inspect", path); strings.Contains(string(out), ",bad") {
		t.Errorf("inspect: %s", out)
	}
	f, m, err := segment.OpenSelf(disk.OS(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Evict()
	g, err := f.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	rows, err := g.Rows(nil, 0, g.Len())
	if err != nil || !m.Schema.Equal(s) || !bytes.Equal(rows, recs) {
		t.Errorf("the segment holds other records (%v), of %s", err, m.Schema)
	}
}
