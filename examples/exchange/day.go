package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/ledger/retention"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// day is one run: recover what earlier runs left, trade to the end of the input,
// report, audit, drop old segments, verify.
func day(ctx context.Context, s *settings, out io.Writer) (err error) {
	r := &report{w: out, quiet: s.quiet}
	source, scale, closeSource, err := s.source()
	if err != nil {
		return err
	}
	defer closeSource()
	x, err := openExchange(s.dir, source, scale, s.batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	r.title("Exchange in "+s.dir, s.String())
	if s.killAfter > 0 {
		x.kill = &killer{after: s.killAfter, out: out}
	}

	over, err := x.over()
	if err != nil {
		return err
	}
	if over {
		r.section("The day is over", "its audit was done, and retention has taken its first records")
	} else if err := tradeAndReport(ctx, s, x, r); err != nil {
		return err
	}
	if err := x.retain(s.keep, r); err != nil {
		return err
	}
	if err := x.close(); err != nil {
		return err
	}
	return verifyBoth(ctx, x.journals, r)
}

func tradeAndReport(ctx context.Context, s *settings, x *exchange, r *report) error {
	if err := x.recover(); err != nil {
		return err
	}
	r.recovered(&x.found)
	if err := x.trade(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a, err := auditDay(x.journals, &x.engine)
	if err != nil {
		return err
	}
	lobster := s.preset != ""
	r.orders(x, a, lobster)
	if lobster {
		r.reproduction(a)
	}
	bySym, all, err := volumes(ctx, x.fills)
	if err != nil {
		return err
	}
	r.volumes(bySym, all)
	r.speed(&x.speed, s.batch)
	r.checks(a)
	r.endState(a)
	if !a.ok() {
		return fmt.Errorf("%w: see the checks", errDamage)
	}
	return nil
}

// over reports whether the day has been audited and retention has begun: the
// books can't be made again from what is left.
func (j *journals) over() (bool, error) {
	for _, s := range []*stream.Stream{j.orders, j.fills} {
		v, err := s.Snapshot()
		if err != nil {
			return false, err
		}
		gone := v.Dropped()
		v.Close()
		for _, d := range gone {
			if strings.HasPrefix(d.Reason, "retention") {
				return true, nil
			}
		}
	}
	return false, nil
}

// retain ends both active segments, as at the end of any day, and drops all but
// the newest full segments of each journal.
func (j *journals) retain(keep int, r *report) error {
	about := fmt.Sprintf("keeps at least %d full segments of each journal", keep)
	if keep == 0 {
		about = "--keep 0 keeps all"
	}
	r.section("Retention", about)
	for _, js := range []struct {
		name     string
		s        *stream.Stream
		capacity int
	}{{"orders", j.orders, ordersCapacity}, {"fills", j.fills, fillsCapacity}} {
		if err := js.s.Seal(); err != nil {
			return err
		}
		dropped, err := js.s.Retain(retention.Policy{KeepRecords: uint64(keep) * uint64(js.capacity)}, false)
		if err != nil {
			return err
		}
		st, err := js.s.Stats()
		if err != nil {
			return err
		}
		r.retained(js.name, dropped, st)
	}
	return nil
}

// verifyBoth reads every byte of both closed journals.
func verifyBoth(ctx context.Context, j *journals, r *report) error {
	r.section("Verify", "every byte of what is left, read again from the files")
	damaged := false
	for _, dir := range []string{j.ordersDir(), j.fillsDir()} {
		found, err := verify.Stream(ctx, dir)
		if err != nil {
			return err
		}
		r.verified(dir, found)
		damaged = damaged || !found.OK
	}
	if damaged {
		return fmt.Errorf("%w: see what verify found", errDamage)
	}
	return nil
}
