// Package ask puts the same seven questions to Ledger and to engines that people
// would ask instead, and has their answers in one form, so that they can be
// compared.
//
//	Q1  notional and volume of all
//	Q2  notional and volume of one symbol
//	Q3  notional and volume of the bought, at prices in a range
//	Q4  notional and volume by symbol
//	Q5  one-minute candles by symbol: open, high, low, close, volume
//	Q6  count of one taker's
//	Q7  notional and volume of one minute
//
// Notional and volume, exact, are what a VWAP is the quotient of.
package ask

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"example.com/ledger/bench/internal/source"
)

// Names are the questions, the slow ones last.
var Names = []string{"Q1", "Q2", "Q3", "Q6", "Q7", "Q4", "Q5"}

// What the conditions compare with.
const (
	Symbol  = 3
	PriceLo = source.Price - 300
	PriceHi = source.Price + 300 // included
	Taker   = 417
	minute  = int64(time.Minute)
)

// Minute is the one that Q7 asks for, of n records: [from, to).
func Minute(n uint64) (from, to int64) {
	from = source.Begin + int64(n)*source.Step/2/minute*minute
	return from, from + minute
}

// An Answer has rows of whole numbers: the keys, minute before symbol, and then
// the values.
type Answer [][]int64

// String sums an answer up: two answers with the same text are the same.
func (a Answer) String() string {
	b := slices.Clone(a)
	slices.SortFunc(b, slices.Compare[[]int64])
	h := fnv.New64a()
	for _, row := range b {
		fmt.Fprintln(h, row)
	}
	if len(b) == 1 {
		return fmt.Sprint(b[0])
	}
	return fmt.Sprintf("%d rows, %016x", len(b), h.Sum64())
}

// An Engine has the records, and answers.
type Engine interface {
	// Ask answers; ok is false if the engine can't answer such a question.
	Ask(name string) (a Answer, ok bool, err error)
	Close() error
}

// A Kind is an engine that can be asked.
type Kind struct {
	Name   string
	Floor  bool
	Needs  string // the kind whose data it reads, if it isn't its own
	Single bool   // uses one thread at most
	Slow   bool   // is asked once
	// Tedious is slow to load, too.
	Tedious bool
	File    string // in dir, with the data; "" is all of dir
	// Load makes the data from n records, in dir. Nil where Needs is another kind.
	Load func(dir string, n uint64) error
	// Open opens what Load made, to be read by that many threads.
	Open func(dir string, n uint64, threads int) (Engine, error)
}

var kinds = map[string]Kind{}

func register(k Kind) { kinds[k.Name] = k }

// Kinds are those that this program was built with.
func Kinds() (out []Kind) {
	for _, n := range []string{Floor, "Ledger", "Arrow compute", "DuckDB table", "DuckDB Parquet", "SQLite"} {
		if k, ok := kinds[n]; ok {
			out = append(out, k)
		}
	}
	return out
}

// ByName finds a kind.
func ByName(name string) (Kind, error) {
	k, ok := kinds[name]
	if !ok {
		return k, fmt.Errorf("this program was not built with %s", name)
	}
	return k, nil
}

// each hands over all n records in blocks.
func each(n uint64, visit func(recs []byte) error) error {
	g := source.NewGenerator()
	buf := make([]byte, 4096*source.Width)
	for n > 0 {
		k := min(n, 4096)
		g.Fill(buf[:k*source.Width])
		if err := visit(buf[:k*source.Width]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}
