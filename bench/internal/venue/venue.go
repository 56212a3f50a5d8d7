// Package venue asks ledgerctl, of streams imported from real venues' files, and a
// SQL engine, of tables read from the same files by a few lines that share nothing
// with the importer, the same questions, and compares all that they say.
package venue

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A File is one of a venue, and where its columns are.
type File struct {
	Name, Preset string

	header            bool
	ts, px, qty, side int    // columns; side −1 if there is none
	perSecond         int64  // of ts
	midnight          int64  // what ts counts from, in seconds since 1970
	pxDigits          int    // that an integer of the stream has more than the file's text
	qtyDigits         int    // the same
	buy               string // what side says where the taker, or the order, bought
	sym               int64  // of all rows: 1 if the file's name has a symbol
	json              bool

	kind  int    // column that tells the kind of a row, where print isn't ""
	print string // of a trade: its side is that of the resting order, not the taker's
}

// midnight of 21 June 2012 in New York.
const newYork = 1_340_251_200

// Files are those that can be asked of.
var Files = []File{
	{Name: "lobster_AAPL_2012-06-21_message_50.csv", Preset: "lobster", ts: 0, px: 4, qty: 3, side: 5, perSecond: 1, midnight: newYork, buy: "1", sym: 1, kind: 1, print: "5"},
	{Name: "binance_spot_BTCUSDT-trades-2024-08-08_part.csv", Preset: "binance-trades", ts: 4, px: 1, qty: 2, side: 5, perSecond: 1e3, pxDigits: 8, qtyDigits: 8, buy: "False", sym: 1},
	{Name: "binance_um_BTCUSDT-trades-2024-08-08_part.csv", Preset: "binance-trades", header: true, ts: 4, px: 1, qty: 2, side: 5, perSecond: 1e3, pxDigits: 8, qtyDigits: 8, buy: "false", sym: 1},
	{Name: "binance_spot_XRPETH-aggTrades-2019-10-11_13.csv", Preset: "binance-aggtrades", ts: 5, px: 1, qty: 2, side: 6, perSecond: 1e3, pxDigits: 8, qtyDigits: 8, buy: "False", sym: 1},
	{Name: "bitstamp_orders_20150501.csv", Preset: "bitstamp", header: true, ts: 1, px: 3, qty: 4, side: 6, perSecond: 1e3, pxDigits: 8, buy: "bid"},
	{Name: "kraken_BCHEUR.csv", Preset: "kraken", ts: 0, px: 1, qty: 2, side: -1, perSecond: 1, pxDigits: 8, qtyDigits: 8, sym: 1},
	{Name: "coinbase_matches_20210417.ndjson", Preset: "coinbase", json: true, pxDigits: 8, qtyDigits: 8, buy: "sell"}, // the maker's
	{Name: "freqtrade_public_trades_list.csv", Preset: "freqtrade", header: true, ts: 1, px: 5, qty: 6, side: 4, perSecond: 1e3, pxDigits: 8, qtyDigits: 8, buy: "buy"},
}

// Sides as records hold them.
const (
	buy  = 0
	sell = 1
	none = 2
)

// A row is what both sides know of a record. sym is the number of a symbol in the
// order in which they come, 0 where neither rows nor the file's name have one.
type row struct{ ts, px, qty, side, sym int64 }

// read reads a file's rows.
func (f File) read(dir string) ([]row, error) {
	b, err := os.Open(filepath.Join(dir, f.Name))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if f.json {
		return f.readJSON(b)
	}
	r := csv.NewReader(b)
	var rows []row
	for line := 1; ; line++ {
		cells, err := r.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if f.header && line == 1 {
			continue
		}
		side := ""
		if f.side >= 0 {
			side = cells[f.side]
		}
		ts, err := nanos(cells[f.ts], f.perSecond)
		if err != nil {
			return nil, err
		}
		x, err := f.row(ts+f.midnight*int64(time.Second), cells[f.px], cells[f.qty], side)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", f.Name, line, err)
		}
		if f.print != "" && cells[f.kind] == f.print {
			x.side = buy + sell - x.side
		}
		rows = append(rows, x)
	}
}

func (f File) row(ts int64, px, qty, side string) (x row, err error) {
	x.ts, x.sym = ts, f.sym
	if x.px, err = scaled(px, f.pxDigits); err != nil {
		return x, err
	}
	if x.qty, err = scaled(qty, f.qtyDigits); err != nil {
		return x, err
	}
	switch side {
	case "":
		x.side = none
	case f.buy:
		x.side = buy
	default:
		x.side = sell
	}
	return x, nil
}

func (f File) readJSON(r io.Reader) ([]row, error) {
	var rows []row
	var symbols []string
	for s := bufio.NewScanner(r); s.Scan(); {
		var m struct {
			Price, Size, Side, Time string
			Product                 string `json:"product_id"`
		}
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return nil, err
		}
		at, err := time.Parse(time.RFC3339Nano, m.Time)
		if err != nil {
			return nil, err
		}
		x, err := f.row(at.UnixNano(), m.Price, m.Size, m.Side)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(symbols, m.Product) {
			symbols = append(symbols, m.Product)
		}
		x.sym = int64(slices.Index(symbols, m.Product) + 1)
		rows = append(rows, x)
	}
	return rows, nil
}

// scaled reads a decimal as an integer of so many digits more. Digits behind them
// must be zeros.
func scaled(s string, digits int) (int64, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if n := len(frac); n > digits {
		if strings.Trim(frac[digits:], "0") != "" {
			return 0, fmt.Errorf("%s has more than %d decimals", s, digits)
		}
		frac = frac[:digits]
	}
	return strconv.ParseInt(whole+frac+strings.Repeat("0", digits-len(frac)), 10, 64)
}

// nanos reads a count of which perSecond make a second; what is finer than a
// nanosecond is rounded.
func nanos(s string, perSecond int64) (int64, error) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || frac == "" {
		return n * (int64(time.Second) / perSecond), err
	}
	if perSecond != 1 {
		return 0, fmt.Errorf("%s is no whole number", s)
	}
	frac += "0000000000"
	f, err := strconv.ParseInt(frac[:9], 10, 64)
	if frac[9] >= '5' {
		f++
	}
	return n*int64(time.Second) + f, err
}
