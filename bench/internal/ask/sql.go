package ask

import (
	"database/sql"
	"encoding/binary"
	"fmt"

	"example.com/ledger/bench/internal/source"
)

// A dialect is where two kinds of SQL differ.
type dialect struct {
	wide  string // what makes a product 64 bits wide
	whole string // wraps a sum, so that it comes as a 64-bit number
	open  string // the price of the first record of a group
	close string
	div   string // whole-number division
}

// sqlEngine answers by SQL.
type sqlEngine struct {
	db   *sql.DB
	text map[string]string
}

// texts are the questions in SQL. candles takes the place of Q5 where it isn't
// empty.
func texts(d dialect, from string, n uint64, candles string) map[string]string {
	lo, hi := Minute(n)
	value := fmt.Sprintf(d.whole+", "+d.whole, "px"+d.wide+"*qty", "qty")
	if candles == "" {
		candles = fmt.Sprintf("select ts%s%d, sym, %s, max(px), min(px), %s, %s from %s group by 1, 2", d.div, minute, d.open, d.close, fmt.Sprintf(d.whole, "qty"), from)
	}
	return map[string]string{
		"Q1": fmt.Sprintf("select %s from %s", value, from),
		"Q2": fmt.Sprintf("select %s from %s where sym = %d", value, from, Symbol),
		"Q3": fmt.Sprintf("select %s from %s where px between %d and %d and side = 0", value, from, PriceLo, PriceHi),
		"Q4": fmt.Sprintf("select sym, %s from %s group by sym", value, from),
		"Q5": candles,
		"Q6": fmt.Sprintf("select count(*) from %s where taker = %d", from, Taker),
		"Q7": fmt.Sprintf("select %s from %s where ts >= %d and ts < %d", value, from, lo, hi),
	}
}

func (e *sqlEngine) Ask(name string) (Answer, bool, error) {
	rows, err := e.db.Query(e.text[name])
	if err != nil {
		return nil, true, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, true, err
	}
	var a Answer
	to := make([]any, len(names))
	for rows.Next() {
		row := make([]int64, len(names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, true, err
		}
		a = append(a, row)
	}
	return a, true, rows.Err()
}

func (e *sqlEngine) Close() error { return e.db.Close() }

// fields reads a record as numbers, seq first.
func fields(seq uint64, b []byte) [9]int64 {
	le := binary.LittleEndian
	return [9]int64{int64(seq), source.Time(b), int64(int32(le.Uint32(b[16:]))), source.Quantity(b),
		int64(le.Uint32(b[24:])), int64(le.Uint32(b[28:])), int64(le.Uint16(b[32:])), int64(b[34]), int64(b[35])}
}
