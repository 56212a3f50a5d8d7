package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/retention"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// A report is what a run prints: sections of lines, a label and a value each.
type report struct {
	w     io.Writer
	quiet bool
}

func (r *report) section(title, about string) {
	if r.quiet {
		return
	}
	fmt.Fprintf(r.w, "\n%s", title)
	if about != "" {
		fmt.Fprintf(r.w, "  (%s)", about)
	}
	fmt.Fprintln(r.w)
}

func (r *report) line(label, format string, args ...any) {
	if r.quiet {
		return
	}
	fmt.Fprintf(r.w, "  %-28s %s\n", label, fmt.Sprintf(format, args...))
}

// thousands writes an integer with commas.
func thousands[T ~int | ~int64 | ~uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	digits := strings.TrimPrefix(s, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return s[:len(s)-len(strings.TrimPrefix(s, "-"))] + digits
}

// recovered tells what the run found of earlier ones.
func (r *report) recovered(f *recovery) {
	if f.orders == 0 {
		return
	}
	r.section("Recovery", "earlier runs began this day")
	r.line("orders in the journal", "%s, matched again", thousands(f.orders))
	r.line("acknowledged before", "%s, each in the journal as it was acknowledged", thousands(f.acknowledged))
	r.line("acknowledged now", "%s that were journaled when the run ended", thousands(f.orders-f.acknowledged))
	r.line("fills in the journal", "%s, the same as the orders make", thousands(f.fills))
	r.line("fills made again", "%s that were missing", thousands(f.remade))
}

// kinds are the kinds of order records, in the order of LOBSTER's types.
var kinds = []struct {
	kind  shapes.Kind
	label string
}{
	{shapes.Limit, "limit orders"},
	{shapes.Reduce, "reductions"},
	{shapes.Cancel, "cancels"},
	{shapes.IOC, "immediate-or-cancel"},
	{shapes.Print, "prints of hidden orders"},
	{book.Cross, "auction notices"},
	{shapes.Halt, "halt notices"},
}

// orders tells what came in and what became of it. types adds LOBSTER's numbers.
func (r *report) orders(x *exchange, a *audit, types bool) {
	about := "the whole day, from the journal"
	if types {
		about += "; by LOBSTER's types"
	}
	r.section("Orders", about)
	for i, k := range kinds {
		label := k.label
		if types {
			label = fmt.Sprintf("%d  %s", i+1, k.label)
		}
		if n := a.kinds[k.kind]; n > 0 || types {
			r.line(label, "%10s", thousands(n))
		}
	}
	r.line("all", "%10s", thousands(len(a.orders)))
	for out, n := range x.outcomes {
		switch book.Outcome(out) {
		case book.Accepted:
		case book.UnknownID, book.Gone:
			r.line("rejected: "+book.Outcome(out).String(), "%10s", thousands(n))
		default:
			if n > 0 {
				r.line("rejected: "+book.Outcome(out).String(), "%10s", thousands(n))
			}
		}
	}
}

// reproduction tells how near the engine comes to the venue that made the file.
func (r *report) reproduction(a *audit) {
	n, of := a.reproduced, a.kinds[shapes.IOC]
	r.section("Reproduction", "the file says which resting order each execution hit")
	r.line("same order, price, size", "%s of %s executions (%.1f %%)", thousands(n), thousands(of), 100*float64(n)/float64(max(of, 1)))
	r.line("from before the file", "%s rows on %s orders that the file never entered", thousands(a.unknownRows), thousands(len(a.unknownIDs)))
	r.line("volume in the file", "%s visible, %s hidden", thousands(a.asked[shapes.IOC]), thousands(a.asked[shapes.Print]))
	r.line("volume here", "%s visible, %s hidden", thousands(a.matched), thousands(a.printed))
}

// volumes is the table of what was traded. Prices of several symbols have no
// average, so the last line has none.
func (r *report) volumes(bySym []volume, all volume) {
	r.section("Volume and VWAP by symbol", "a scan of the journal of fills")
	row := func(name string, cells ...string) {
		line := fmt.Sprintf("%-8s", name)
		for _, c := range cells {
			line += fmt.Sprintf(" %14s", c)
		}
		if !r.quiet {
			fmt.Fprintln(r.w, "  "+line)
		}
	}
	row("symbol", "fills", "volume", "VWAP", "with prints", "volume", "VWAP")
	for _, v := range bySym {
		seen, both := v.visible, v.withHidden
		row(strconv.FormatInt(both.sym, 10),
			thousands(seen.fills), thousands(seen.volume), seen.vwap,
			thousands(both.fills), thousands(both.volume), both.vwap)
	}
	if len(bySym) == symbolsMost {
		row("…")
	}
	row("all", thousands(all.visible.fills), thousands(all.visible.volume), "",
		thousands(all.withHidden.fills), thousands(all.withHidden.volume), "")
}

// speed tells how fast this run was. It says nothing if it did nothing.
func (r *report) speed(s *speed, batch int) {
	if s.orders == 0 {
		return
	}
	r.section("Speed", fmt.Sprintf("this run: %s orders, journaled %d at a time", thousands(s.orders), batch))
	r.line("throughput", "%s orders/s, from input to acknowledgement", thousands(int64(float64(s.orders)/s.took.Seconds())))
	at := func(q float64) time.Duration { return round(time.Duration(s.latency.ValueAtQuantile(q))) }
	r.line("latency, journal to ack", "p50 %v · p99 %v · p99.9 %v · max %v",
		at(50), at(99), at(99.9), round(time.Duration(s.latency.Max())))
	r.line("waits for a segment's seal", "%s of %s appends", thousands(s.waits), thousands(s.appends))
}

// round keeps three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}

// checks tells what the audit proved. What failed is told even if quiet.
func (r *report) checks(a *audit) {
	r.section("Checks", fmt.Sprintf("%s fills and %s prints, against %s orders",
		thousands(a.fills), thousands(a.prints), thousands(len(a.orders))))
	for c, f := range a.faults {
		if f.n == 0 {
			r.line("ok", "%s", check(c))
			continue
		}
		fmt.Fprintf(r.w, "  %-28s %s: %s times, first: %s\n", "WRONG", check(c), thousands(f.n), f.first)
	}
}

// endState is the line by which two days are compared.
func (r *report) endState(a *audit) {
	r.section("End state", "the same after any number of kills")
	fmt.Fprintf(r.w, "  %s orders · %s fills and prints · %s resting · fingerprint %s\n",
		thousands(len(a.orders)), thousands(a.fills+a.prints), thousands(a.resting), a.fingerprint())
}

// title is the first line.
func (r *report) title(what, about string) {
	if !r.quiet {
		fmt.Fprintf(r.w, "%s\n  %s\n", what, about)
	}
}

// retained tells what one journal has lost and kept.
func (r *report) retained(name string, dropped []retention.Dropped, st stream.Stats) {
	var bytes int64
	for _, d := range dropped {
		bytes += d.Bytes
	}
	r.line(name, "%d segments dropped (%s); records from %s to %s are left (%s)",
		len(dropped), megabytes(bytes), thousands(st.FirstSeq), thousands(st.NextSeq), megabytes(st.Bytes))
}

// verified tells what verify found of one journal. Problems are told even if quiet.
func (r *report) verified(dir string, v *verify.Report) {
	if v.OK {
		r.line(filepath.Base(dir), "ok: %s records, %d segments, %s", thousands(v.Records), v.Segments, megabytes(v.Bytes))
		return
	}
	for _, p := range v.Problems {
		fmt.Fprintf(r.w, "  %-28s %s: %s at %d: %s\n", "WRONG", filepath.Join(dir, p.File), p.Kind, p.Offset, p.Detail)
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
