package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
	_ "time/tzdata" // so that time zones don't depend on the machine

	"example.com/ledger/examples/exchange/flow"
	"github.com/spf13/cobra"
)

// settings are the command's flags.
type settings struct {
	dir       string
	input     string
	preset    string
	date      string
	tz        string
	orders    int
	symbols   int
	seed      uint64
	batch     int
	killAfter int
	keep      int
	quiet     bool

	day time.Time // midnight of date in tz
}

// The generator's day, unless --date says another.
const dateDefault = "2026-01-05"

// ordersDefault is how many orders the generator makes, unless --orders says.
const ordersDefault = 500_000

func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&s.dir, "dir", "d", "", "directory of the day; made if there is none (required)")
	f.StringVarP(&s.input, "input", "i", "", "file of orders, instead of the generator")
	f.StringVar(&s.preset, "preset", "", "what the file is: lobster")
	f.StringVar(&s.date, "date", "", "the trading day, YYYY-MM-DD; needed with --input (generator: "+dateDefault+")")
	f.StringVar(&s.tz, "tz", "America/New_York", "time zone of the market")
	f.IntVarP(&s.orders, "orders", "n", 0, fmt.Sprintf("stop behind so many orders; 0: the whole file (generator: %d)", ordersDefault))
	f.IntVar(&s.symbols, "symbols", 8, "generator: number of symbols")
	f.Uint64Var(&s.seed, "seed", 1, "generator: another seed is another day")
	f.IntVar(&s.batch, "batch", 256, "orders journaled together")
	f.IntVar(&s.killAfter, "kill-after", 0, "kill this process (SIGKILL) after so many acknowledged orders; 0: never")
	f.IntVar(&s.keep, "keep", 2, "retention at the end of the day: full segments to keep of each journal; 0 drops none")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "print only the end state, and what is wrong")
	cmd.MarkFlagRequired("dir")
}

// check reports all that is wrong with the settings, and works out the day.
func (s *settings) check(given func(flag string) bool) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if (s.input == "") != (s.preset == "") {
		bad("--input and --preset go together")
	}
	if s.preset != "" && s.preset != "lobster" {
		bad("--preset %q: there is only lobster", s.preset)
	}
	if s.input != "" && s.date == "" {
		bad("--date: a LOBSTER file has times of day only: say of which day")
	}
	if s.input != "" && (given("symbols") || given("seed")) {
		bad("--symbols and --seed are the generator's, and --input replaces it")
	}
	between := func(flag string, v, low, high int) {
		if v < low || v > high {
			bad("--%s %d: want %d to %d", flag, v, low, high)
		}
	}
	between("orders", s.orders, 0, math.MaxInt32)
	between("symbols", s.symbols, 1, 1<<16)
	between("batch", s.batch, 1, ordersCapacity)
	between("kill-after", s.killAfter, 0, math.MaxInt32)
	between("keep", s.keep, 0, math.MaxInt32)
	if s.date == "" {
		s.date = dateDefault
	}
	if zone, err := time.LoadLocation(s.tz); err != nil {
		bad("--tz: %w", err)
	} else if s.day, err = time.ParseInLocation(time.DateOnly, s.date, zone); err != nil {
		bad("--date %q: want YYYY-MM-DD", s.date)
	}
	return errors.Join(errs...)
}

// source opens where the orders come from, and tells the scale of their prices.
func (s *settings) source() (_ flow.Source, scale uint8, close func() error, err error) {
	if s.input == "" {
		n := s.orders
		if n == 0 {
			n = ordersDefault
		}
		y, m, d := s.day.Date()
		opening := time.Date(y, m, d, 9, 30, 0, 0, s.day.Location())
		return flow.NewGenerator(n, s.symbols, s.seed, opening), flow.GeneratorScale, func() error { return nil }, nil
	}
	f, err := os.Open(s.input)
	if err != nil {
		return nil, 0, nil, err
	}
	var source flow.Source = flow.NewLobster(f, s.day)
	if s.orders > 0 {
		source = flow.Limit(source, s.orders)
	}
	return source, flow.LobsterScale, f.Close, nil
}

// String says in a few words where the orders come from.
func (s *settings) String() string {
	if s.input != "" {
		return fmt.Sprintf("%s, a LOBSTER file of %s", s.input, s.date)
	}
	return fmt.Sprintf("generated, %d symbols, seed %d", s.symbols, s.seed)
}
