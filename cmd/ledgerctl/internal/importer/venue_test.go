package importer

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// shared is where real files of venues lie, beside a checkout that has them.
const shared = "../../../../../shared/data"

// rational is a decimal number as a fraction, read by other code than ours.
func rational(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return r
}

// same says whether two numbers written in different ways are one.
func sameNumber(t *testing.T, a, b string) bool { return rational(t, a).Cmp(rational(t, b)) == 0 }

// nanos is ms, as written, in ns.
func nanos(t *testing.T, ms string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * 1e6
}

// TestVenueFiles imports every real file, and compares each record with a reading
// of the file by the standard library.
func TestVenueFiles(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no ../shared/data beside this checkout: the venues' files are not part of it")
	}
	side := func(sells bool) string { return map[bool]string{true: "1", false: "0"}[sells] }
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		ts     int64
		px     string
		fields map[string]string
	}
	for _, c := range []struct {
		file, preset, symbol string
		rows                 int
		header               bool
		row                  func(t *testing.T, c []string) want
	}{
		{"lobster_AAPL_2012-06-21_message_50.csv", "lobster", "AAPL", 91997, false, func(t *testing.T, c []string) want {
			ns := new(big.Rat).Mul(rational(t, c[0]), big.NewRat(1e9, 1))
			ns.Add(ns, big.NewRat(1, 2)) // half up
			n := new(big.Int).Div(ns.Num(), ns.Denom())
			sells := c[5] == "-1"
			kind := map[string]string{"1": "1", "2": "2", "3": "3", "4": "12", "5": "5"}[c[1]]
			flags := "0"
			if c[1] == "5" {
				sells, flags = !sells, "2"
			}
			return want{time.Date(2012, 6, 21, 0, 0, 0, 0, newYork).UnixNano() + n.Int64(),
				new(big.Rat).Quo(rational(t, c[4]), big.NewRat(1e4, 1)).FloatString(4),
				map[string]string{"qty": c[3], "order": c[2], "kind": kind, "side": side(sells), "flags": flags}}
		}},
		{"binance_spot_BTCUSDT-trades-2024-08-08_part.csv", "binance-trades", "BTCUSDT", 9757, false, func(t *testing.T, c []string) want {
			return want{nanos(t, c[4]), c[1], map[string]string{"qty": c[2], "trade": c[0], "side": side(c[5] == "True")}}
		}},
		{"binance_um_BTCUSDT-trades-2024-08-08_part.csv", "binance-trades", "BTCUSDT", 21313, true, func(t *testing.T, c []string) want {
			return want{nanos(t, c[4]), c[1], map[string]string{"qty": c[2], "trade": c[0], "side": side(c[5] == "true")}}
		}},
		{"binance_spot_XRPETH-aggTrades-2019-10-11_13.csv", "binance-aggtrades", "XRPETH", 12477, false, func(t *testing.T, c []string) want {
			flags := "0"
			if c[3] != c[4] {
				flags = "1024"
			}
			return want{nanos(t, c[5]), c[1], map[string]string{"qty": c[2], "trade": c[0], "first": c[3], "last": c[4], "flags": flags, "side": side(c[6] == "True")}}
		}},
		{"bitstamp_orders_20150501.csv", "bitstamp", "0", 50414, true, func(t *testing.T, c []string) want {
			return want{nanos(t, c[1]), c[3], map[string]string{"qty": new(big.Rat).Quo(rational(t, c[4]), big.NewRat(1e8, 1)).FloatString(8), "order": c[0],
				"venue_ts": fmt.Sprint(nanos(t, c[2])), "kind": map[string]string{"created": "1", "changed": "128", "deleted": "3"}[c[5]], "side": side(c[6] == "ask")}}
		}},
		{"kraken_BCHEUR.csv", "kraken", "BCHEUR", 148, false, func(t *testing.T, c []string) want {
			return want{nanos(t, c[0]) * 1000, c[1], map[string]string{"qty": c[2], "side": "2"}}
		}},
		{"freqtrade_public_trades_list.csv", "freqtrade", "0", 1000, true, func(t *testing.T, c []string) want {
			at, err := time.Parse("2006-01-02 15:04:05.999999999Z07:00", c[8])
			if err != nil || at.UnixNano() != nanos(t, c[1]) {
				t.Fatalf("the file has two times: %q %q", c[1], c[8])
			}
			return want{at.UnixNano(), c[5], map[string]string{"qty": c[6], "trade": c[2], "side": side(c[4] == "sell")}}
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(shared, c.file)
			recs := importFile(t, path, c.preset)
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rows, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if c.header {
				rows = rows[1:]
			}
			if len(recs) != c.rows || len(rows) != c.rows {
				t.Fatalf("%d records, %d rows, want %d", len(recs), len(rows), c.rows)
			}
			for i, row := range rows {
				w := c.row(t, row)
				if ts := schema.Time(recs[i].rec); ts != w.ts {
					t.Fatalf("record %d of %q: ts %d, want %d", i, row, ts, w.ts)
				}
				w.fields["px"], w.fields["sym"] = w.px, c.symbol
				for name, v := range w.fields {
					if got := recs[i].get(name); got != v && !sameNumber(t, got, v) {
						t.Fatalf("record %d of %q: %s is %s, want %s", i, row, name, got, v)
					}
				}
			}
		})
	}
}

func importFile(t *testing.T, path, name string) []record {
	t.Helper()
	o := Options{Dir: filepath.Join(t.TempDir(), "s"), Paths: []string{path}, Preset: preset(t, name), Stream: stream.Options{Durability: stream.Os, Capacity: 4096}}
	r, err := Import(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	recs := records(t, o.Dir)
	if r.Appended != uint64(len(recs)) {
		t.Errorf("%d appended, %d there", r.Appended, len(recs))
	}
	return recs
}

// TestCoinbaseFile does the same for the JSON lines.
func TestCoinbaseFile(t *testing.T) {
	path := filepath.Join(shared, "coinbase_matches_20210417.ndjson")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skip("no ../shared/data beside this checkout: the venues' files are not part of it")
	}
	recs := importFile(t, path, "coinbase")
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(recs) != 107 || len(lines) != 107 {
		t.Fatalf("%d records, %d lines, want 107", len(recs), len(lines))
	}
	products := map[string]bool{}
	for i, line := range lines {
		var m struct {
			Type     string
			Trade    uint64 `json:"trade_id"`
			Maker    string `json:"maker_order_id"`
			Taker    string `json:"taker_order_id"`
			Side     string
			Size     string
			Price    string
			Product  string `json:"product_id"`
			Sequence uint64
			Time     time.Time
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		r := recs[i]
		products[m.Product] = true
		side, flags := "0", "0"
		if m.Side == "buy" { // the maker's
			side = "1"
		}
		if m.Type == "last_match" {
			flags = "2048"
		}
		uuid := func(field string) string {
			hi, _ := strconv.ParseUint(r.get(field+"_hi"), 10, 64)
			lo, _ := strconv.ParseUint(r.get(field+"_lo"), 10, 64)
			h := fmt.Sprintf("%016x%016x", hi, lo)
			return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		}
		for _, x := range [][2]string{
			{r.get("sym"), m.Product}, {r.get("trade"), fmt.Sprint(m.Trade)}, {r.get("venue_seq"), fmt.Sprint(m.Sequence)},
			{uuid("maker"), m.Maker}, {uuid("taker"), m.Taker}, {r.get("side"), side}, {r.get("flags"), flags},
			{fmt.Sprint(schema.Time(r.rec)), fmt.Sprint(m.Time.UnixNano())},
		} {
			if x[0] != x[1] {
				t.Fatalf("record %d of %s: %q, want %q", i, line, x[0], x[1])
			}
		}
		if !sameNumber(t, r.get("px"), m.Price) || !sameNumber(t, r.get("qty"), m.Size) {
			t.Fatalf("record %d of %s: %s", i, line, r)
		}
	}
	if len(products) != 10 {
		t.Errorf("%d products", len(products))
	}
}
