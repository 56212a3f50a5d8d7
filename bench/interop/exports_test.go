//go:build duckdb || node

package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"example.com/ledger/stream"
)

const venueFiles = "../../../shared/data"

var presets = map[string]string{
	"lobster_AAPL_2012-06-21_message_50.csv":          "lobster",
	"binance_spot_BTCUSDT-trades-2024-08-08_part.csv": "binance-trades",
	"binance_um_BTCUSDT-trades-2024-08-08_part.csv":   "binance-trades",
	"binance_spot_XRPETH-aggTrades-2019-10-11_13.csv": "binance-aggtrades",
	"bitstamp_orders_20150501.csv":                    "bitstamp",
	"kraken_BCHEUR.csv":                               "kraken",
	"coinbase_matches_20210417.ndjson":                "coinbase",
	"freqtrade_public_trades_list.csv":                "freqtrade",
}

// An export is a stream made of a real file, what was exported of it, and the
// SHA-256 of each column's values: one a line, times as integers, decimals with
// all digits of their scale, texts as they are. micros is that of ts without what
// is below a microsecond.
type export struct {
	dir, parquet, arrow string
	columns             []string
	sums                map[string]string
	micros              string
}

// forEach calls f in a subtest for each real file.
func forEach(t *testing.T, f func(t *testing.T, e export)) {
	if _, err := os.Stat(venueFiles); err != nil {
		t.Skip("no ../shared/data beside this checkout: the venues' files are not part of it")
	}
	tool := filepath.Join(t.TempDir(), "ledgerctl")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", tool, "./cmd/ledgerctl")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, preset := range presets {
		t.Run(name, func(t *testing.T) {
			run := func(args ...string) []byte {
				cmd := exec.CommandContext(t.Context(), tool, args...)
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%q: %v: %s", args, err, errs.String())
				}
				return out
			}
			dir := filepath.Join(t.TempDir(), "s")
			e := export{dir: dir, parquet: dir + ".parquet", arrow: dir + ".arrow"}
			run("import", dir, filepath.Join(venueFiles, name), "--preset", preset, "-q", "--durability", "os")
			run("export", dir, "-o", e.parquet, "-q")
			run("export", dir, "-o", e.arrow, "-q")
			e.sum(t, run("dump", dir), run("dump", dir, "--raw-values"))
			f(t, e)
		})
	}
}

// sum takes texts from what a person would see, and all else from raw values.
func (e *export) sum(t *testing.T, shown, raw []byte) {
	r, err := stream.OpenReader(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := r.Schema()
	a, b := csv.NewReader(bytes.NewReader(shown)), csv.NewReader(bytes.NewReader(raw))
	if e.columns, err = a.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(); err != nil {
		t.Fatal(err)
	}
	sums := make([]hash.Hash, len(e.columns))
	for i := range sums {
		sums[i] = sha256.New()
	}
	micros := sha256.New()
	for {
		text, err := a.Read()
		number, err2 := b.Read()
		if err == io.EOF && err2 == io.EOF {
			break
		}
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i, name := range e.columns {
			cell := number[i]
			if f, ok := s.Index(name); ok && s.Field(f).Scale > 0 {
				v, err := strconv.ParseInt(cell, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				cell = string(s.Field(f).AppendValue(nil, v))
			} else if name == "sym" {
				cell = text[i]
			}
			io.WriteString(sums[i], cell+"\n")
			if name == "ts" {
				io.WriteString(micros, cell[:len(cell)-3]+"000\n") // none is before 1970
			}
		}
	}
	e.micros = hex.EncodeToString(micros.Sum(nil))
	e.sums = map[string]string{}
	for i, name := range e.columns {
		e.sums[name] = hex.EncodeToString(sums[i].Sum(nil))
	}
}
