package venue

import (
	"fmt"
	"slices"
	"time"

	"example.com/ledger/schema"
)

const minute = int64(time.Minute)

// A question is a command line of ledgerctl, and the same in SQL: its answers must
// be equal, row by row, in order.
type question struct {
	name string
	verb string
	args []string // behind the verb and the stream
	sql  string
	keep []int // columns of ledgerctl's answer that are compared; nil is all
}

// product is a sum of px × qty in four parts, none of which passes 64 bits: SQLite
// has no more, and DuckDB's are as good. answer puts them together.
const product = "sum(px/M*(qty/M)) as p3, sum(px/M*(qty%M)) as p2, sum(px%M*(qty/M)) as p1, sum(px%M*(qty%M)) as p0"

// questions are about rows of a stream with schema s; there must be some. Their
// values are chosen so that each has something to say.
func questions(rows []row, s *schema.Schema) []question {
	prices := make([]int64, len(rows))
	for i, r := range rows {
		prices[i] = r.px
	}
	slices.Sort(prices)
	lo, hi := prices[len(prices)/4], prices[len(prices)*3/4]
	middle := rows[len(rows)/2]
	from := middle.ts / minute * minute
	text := func(field string, v int64) string {
		i, _ := s.Index(field)
		return string(s.Field(i).AppendValue(nil, v))
	}
	const sums = "notional(px,qty), sum(qty)"
	sqlSums := product + ", sum(qty)"
	minutes := fmt.Sprintf("ts-ts%%%d", minute)
	return []question{
		{name: "Q1 notional and volume of all", verb: "query", args: []string{"--select", sums},
			sql: "select " + sqlSums + " from t"},
		{name: "Q2 notional and volume of one symbol", verb: "query", args: []string{"--select", sums, "--where", fmt.Sprintf("sym == %d", middle.sym)},
			sql: fmt.Sprintf("select %s from t where sym = %d", sqlSums, middle.sym)},
		{name: "Q3 of all but the sold, in a range of prices", verb: "query",
			args: []string{"--select", sums, "--where", fmt.Sprintf("side != %d && px between %s and %s", sell, text("px", lo), text("px", hi))},
			sql:  fmt.Sprintf("select %s from t where side <> %d and px between %d and %d", sqlSums, sell, lo, hi)},
		{name: "Q4 notional and volume by symbol and side", verb: "query", args: []string{"--select", sums, "--by", "sym,side"},
			sql: "select sym, side, " + sqlSums + " from t group by sym, side order by sym, side"},
		{name: "Q5 one-minute candles by symbol", verb: "candles", args: []string{"--every", "1m", "--by", "sym"}, keep: []int{0, 1, 2, 3, 4, 5, 6, 8},
			sql: fmt.Sprintf("select g.m, g.sym, (select px from t where seq=g.a), h, l, (select px from t where seq=g.b), v, n from "+
				"(select sym, %[1]s as m, max(px) h, min(px) l, sum(qty) v, count(*) n, min(seq) a, max(seq) b from t group by sym, %[1]s) g order by g.m, g.sym", minutes)},
		{name: "Q6 count of one quantity", verb: "query", args: []string{"--where", "qty == " + text("qty", middle.qty)},
			sql: fmt.Sprintf("select count(*) from t where qty = %d", middle.qty)},
		{name: "Q7 notional and volume of one minute", verb: "query", args: []string{"--select", sums, "--since", fmt.Sprintf("%dns", from), "--until", fmt.Sprintf("%dns", from+minute)},
			sql: fmt.Sprintf("select %s from t where ts >= %d and ts < %d", sqlSums, from, from+minute)},
		{name: "count, extremes, first and last", verb: "query", args: []string{"--select", "count(), min(px), max(px), first(qty), last(qty), min(ts), max(ts)"},
			sql: "select count(*), min(px), max(px), (select qty from t where seq = 0), (select qty from t where seq = (select max(seq) from t)), min(ts), max(ts) from t"},
		{name: "volume at price", verb: "query", args: []string{"--select", "sum(qty), count()", "--by", "px"},
			sql: "select px, sum(qty), count(*) from t group by px order by px"},
		{name: "the three minutes with most volume", verb: "query", args: []string{"--select", "sum(qty)", "--every", "1m", "--top", "3"},
			sql: fmt.Sprintf("select %[1]s, sum(qty) from t group by %[1]s order by sum(qty) desc, %[1]s limit 3", minutes)},
		{name: "sides, or dear and early", verb: "query",
			args: []string{"--where", fmt.Sprintf("side in [%d, %d] && !(px < %s) || px > %s && ts < %dns", buy, none, text("px", lo), text("px", hi), middle.ts), "--by", "side"},
			sql:  fmt.Sprintf("select side, count(*) from t where side in (%d, %d) and not px < %d or px > %d and ts < %d group by side order by side", buy, none, lo, hi, middle.ts)},
		{name: "the last five below a price", verb: "tail", args: []string{"-n", "5", "--where", "px <= " + text("px", lo), "--columns", "seq,ts,px,qty,side"},
			sql: fmt.Sprintf("select * from (select seq, ts, px, qty, side from t where px <= %d order by seq desc limit 5) x order by seq", lo)},
		{name: "backwards from a record", verb: "dump", args: []string{"--reverse", "--limit", "100", "--to", fmt.Sprint(len(rows) / 2), "--where", fmt.Sprintf("qty >= %s", text("qty", middle.qty)), "--columns", "seq,qty,px"},
			sql: fmt.Sprintf("select seq, qty, px from t where seq < %d and qty >= %d order by seq desc limit 100", len(rows)/2, middle.qty)},
	}
}
