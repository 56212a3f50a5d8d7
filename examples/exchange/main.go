// Exchange is an example: a stock exchange for a day. It journals every order in
// one ledger stream, matches by price and time, and journals the fills in
// another. Kill it when you like; run it again and it goes on.
//
//	go run ./examples/exchange --dir /tmp/day --kill-after 200000
//	go run ./examples/exchange --dir /tmp/day
//
// The README beside this file walks through it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"example.com/ledger/stream"
	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes, as ledgerctl has them.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitDamage = 3 // journals that contradict themselves or each other
)

// errDamage: what this example keeps on disk contradicts itself.
var errDamage = errors.New("damage")

// run is the program, with what it needs of its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code := exitUsage // until the command's own work begins
	var s settings
	cmd := &cobra.Command{
		Use:   "exchange --dir DIR",
		Short: "A matching engine over two ledger streams, for a day",
		Long: `Journal orders, match them by price and time, journal the fills; report, check
the books, drop old segments, verify. Orders come from a seeded generator, or
from a LOBSTER message file. A run that was killed goes on when it is run again.`,
		Example: `  exchange --dir /tmp/day --kill-after 200000
  exchange --dir /tmp/day
  exchange --dir /tmp/aapl --input AAPL_message_50.csv --preset lobster --date 2012-06-21`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(cmd.Flags().Changed); err != nil {
				return err
			}
			code = exitFailed
			return day(cmd.Context(), &s, stdout)
		},
	}
	s.flags(cmd)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	switch err := cmd.ExecuteContext(ctx); {
	case err == nil:
		return exitFine
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "exchange: stopped in good order: run it again to go on")
		return exitFailed
	case errors.Is(err, errDamage), errors.Is(err, stream.ErrCorrupt):
		code = exitDamage
		fallthrough
	default:
		fmt.Fprintln(stderr, "exchange:", err)
		return code
	}
}
