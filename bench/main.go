// Command bench measures Ledger beside its peers and beside what the machine
// itself can do: the same records, batches and durability, in one run, with the
// engines taking turns.
//
//	go run . [--full] [--only append,latency,store,history,query,soak]
//	go run -tags duckdb . [--full]     # only the queries, with DuckDB and SQLite in C
//	go run [-tags duckdb] . files [--data ../../shared/data]   # answers over real files, compared
//
// Every measurement is a process of its own. Results go to results/, named by
// date and processor. It runs on Linux.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/bench/internal/facts"
	"example.com/ledger/bench/internal/report"
)

// A question is one of the six sets of measurements.
type question struct {
	name, title string
	ask         func(r *run) (*report.Question, map[string][]report.Chart, error)
}

// order is that of the questions in a result, whichever program asked them.
var order = []string{"append", "latency", "store", "history", "query", "soak"}

// peers are the modules whose versions stand on top of the results.
var peers = []string{
	"github.com/tidwall/wal", "github.com/cockroachdb/pebble/v2", "go.etcd.io/etcd/server/v3", "github.com/hashicorp/raft-wal", "go.etcd.io/bbolt",
	"modernc.org/sqlite", "github.com/mattn/go-sqlite3", "github.com/nats-io/nats-server/v2", "github.com/duckdb/duckdb-go/v2", "github.com/apache/arrow-go/v18",
}

func names() []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.name)
	}
	return out
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// flags are what a user can choose.
type flags struct {
	full    bool
	tiny    bool
	only    []string
	dir     string
	out     string
	budget  time.Duration
	engines []string
}

func command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:           "bench",
		Short:         "Measure Ledger beside its peers",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return all(c.Context(), f) },
	}
	c.Flags().BoolVar(&f.full, "full", false, "everything, longer and with more rounds: up to an hour for each question")
	c.Flags().BoolVar(&f.tiny, "tiny", false, "a few milliseconds of each, to see that it works; the numbers mean nothing")
	c.Flags().StringSliceVar(&f.only, "only", nil, "ask only these: "+strings.Join(names(), ", "))
	c.Flags().StringSliceVar(&f.engines, "engines", nil, "only engines whose names contain one of these, and the floors")
	c.Flags().StringVar(&f.dir, "dir", "data", "put the engines' data here, on a disk; it is removed afterwards")
	c.Flags().StringVar(&f.out, "out", "results", "write results here")
	c.Flags().DurationVar(&f.budget, "budget", 0, "begin no further round of a question after this long (default 3m, with --full 50m)")
	c.AddCommand(cellCommand(), filesCommand())
	return c
}

// all asks the questions, one after the other, and saves each answer at once.
func all(ctx context.Context, f flags) error {
	for _, n := range f.only {
		if !slices.Contains(names(), n) {
			return fmt.Errorf("--only %s: it is one of %s", n, strings.Join(names(), ", "))
		}
	}
	if f.budget == 0 {
		f.budget = 3 * time.Minute
		if f.full {
			f.budget = 50 * time.Minute
		}
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	if disk, err := facts.OnDisk(f.dir); err != nil {
		return err
	} else if !disk {
		return fmt.Errorf("--dir %s lies in memory: choose a directory on a disk", f.dir)
	}
	dir, err := os.MkdirTemp(f.dir, "bench-")
	if err != nil {
		return err
	}
	defer func() {
		os.RemoveAll(dir)
		os.Remove(f.dir) // if it is empty
	}()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	host := facts.Read(dir, peers...)
	for _, l := range host.Lines() {
		fmt.Println(l)
	}
	var errs []error
	for _, q := range questions {
		if len(f.only) > 0 && !slices.Contains(f.only, q.name) {
			continue
		}
		if err := one(ctx, f, dir, host, q); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", q.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func one(ctx context.Context, f flags, dir string, host facts.Facts, q question) error {
	fmt.Printf("\n== %s: %s\n", q.name, q.title)
	r := &run{ctx: ctx, flags: f, dir: filepath.Join(dir, q.name), begun: time.Now()}
	defer os.RemoveAll(r.dir)
	ans, charts, err := q.ask(r)
	if err != nil {
		return err
	}
	ans.Name, ans.Title, ans.Command = q.name, q.title, r.commandLine(q.name)
	ans.Begun, ans.Took = r.begun.UTC().Format("2006-01-02 15:04 UTC"), time.Since(r.begun).Round(time.Second).String()
	ans.Notes = append(ans.Notes, r.notes...)
	if r.failed > 0 {
		ans.Notes = append(ans.Notes, fmt.Sprintf("%d measurements failed; the remarks say why.", r.failed))
	}
	base, err := report.Save(f.out, host, ans, charts, order)
	if err != nil {
		return err
	}
	fmt.Println()
	ans.Text(os.Stdout)
	fmt.Printf("\n-> %s.{txt,json}\n", filepath.Join(f.out, base))
	for _, c := range ans.Charts {
		fmt.Printf("-> %s\n", filepath.Join(f.out, c))
	}
	return nil
}
