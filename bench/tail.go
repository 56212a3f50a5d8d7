//go:build !duckdb

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/report"
	"example.com/ledger/bench/internal/source"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func init() {
	cells["tail"] = tailCell
	cells["tail-read"] = tailReadCell
}

// tailRate is how many single records a second are appended while one follows.
const tailRate = 1e5

// The rows of the table of tails.
const (
	tailChannel = "floor: a channel between goroutines"
	tailSame    = "Ledger sealed, same process"
	tailOther   = "Ledger sealed, another process"
)

// askTail fills a table of how far behind a follower is.
func askTail(r *run) (*report.Table, error) {
	t := &report.Table{Title: "Following single appends", Keys: []string{"rate", "follower"}}
	for _, p := range measure.Percentiles {
		t.Metrics = append(t.Metrics, report.Metric{Name: p.Name, Unit: report.Nanos})
	}
	var names []string
	rate := report.Format(tailRate, report.Rate)
	for _, n := range []string{jitter, tailChannel, tailSame, tailOther} {
		if r.wanted(n) {
			names = append(names, n)
			t.Row(rate, n).Floor = strings.HasPrefix(n, "floor")
		}
	}
	lasts := pick(r, 100*time.Millisecond, 5*time.Second, 20*time.Second)
	return t, r.rounds(pick(r, 1, 3, 5), len(names), 1, func(round, i int) {
		row := t.Row(rate, names[i])
		o, err := r.measure(spec{Kind: "tail", Engine: names[i], Rate: tailRate, For: lasts}, 30*time.Second+4*lasts)
		if err != nil {
			row.Remark = r.remark(err)
			r.progress("round %d  %-36s %s", round+1, names[i], row.Remark)
			return
		}
		row.Add(o.Figures)
		r.progress("round %d  %-36s p50 %10s  p99 %10s", round+1, names[i], report.Format(o.Figures["p50"], report.Nanos), report.Format(o.Figures["p99"], report.Nanos))
	})
}

// tailCell appends records whose ts is when each was due, for a follower here or
// in a process of its own. The first tenth is not counted.
func tailCell(s spec) (o outcome, err error) {
	skip := int(s.Rate * s.For.Seconds() / 10)
	total := int(s.Rate*s.For.Seconds()) + skip
	switch s.Engine {
	case jitter:
		h, n := measure.NewHist(), 0
		err := paced(s.Rate, total, func(due int64) error {
			if n++; n > skip {
				h.Add(time.Duration(clock() - due))
			}
			return nil
		})
		return figuresOf(h), err
	case tailChannel:
		ch, done := make(chan int64, total), make(chan *measure.Hist)
		go func() {
			h := measure.NewHist()
			for n := range total {
				due := <-ch
				if n >= skip {
					h.Add(time.Duration(clock() - due))
				}
			}
			done <- h
		}()
		if err := paced(s.Rate, total, func(due int64) error { ch <- due; return nil }); err != nil {
			return o, err
		}
		return figuresOf(<-done), nil
	}
	dir := filepath.Join(s.Dir, "stream")
	st, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Durability: stream.Sealed})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	ring := source.NewRing(1)
	if _, _, err := st.Append(ring.Next(1)); err != nil { // record 0 isn't counted
		return o, err
	}
	done := make(chan outcome, 1)
	failed := make(chan error, 1)
	ready := filepath.Join(s.Dir, "ready")
	go func() {
		var o outcome
		var err error
		if s.Engine == tailSame {
			o, err = follow(st.Tail(context.Background(), 0), skip, total, ready)
		} else {
			o, err = followOutside(spec{Kind: "tail-read", Dir: s.Dir, Records: uint64(total), Extra: map[string]float64{"skip": float64(skip)}})
		}
		if err != nil {
			failed <- err
			return
		}
		done <- o
	}()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Since(began) > 10*time.Second {
			return o, errors.New("the follower did not begin")
		}
	}
	if err := paced(s.Rate, total, func(due int64) error {
		rec := ring.Next(1)
		binary.LittleEndian.PutUint64(rec[8:], uint64(due))
		_, _, err := st.Append(rec)
		return err
	}); err != nil {
		return o, err
	}
	select {
	case o = <-done:
		return o, nil
	case err := <-failed:
		return o, err
	}
}

// clock reads the clock that all processes of the machine share and that nobody
// sets: nanoseconds.
func clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it is always there
	return t.Nano()
}

// paced calls f total times at a rate a second, each time with when it was due,
// by clock. It never sleeps.
func paced(rate float64, total int, f func(due int64) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	base, begun := clock(), time.Now()
	gap := 1e9 / rate
	for i := range total {
		due := int64(float64(i) * gap)
		for int64(time.Since(begun)) < due {
		}
		if err := f(base + due); err != nil {
			return err
		}
	}
	return nil
}

// tailReadCell follows the stream of another process.
func tailReadCell(s spec) (outcome, error) {
	r, err := stream.OpenReader(filepath.Join(s.Dir, "stream"))
	if err != nil {
		return outcome{}, err
	}
	defer r.Close()
	return follow(r.Tail(context.Background(), 0), int(s.Extra["skip"]), int(s.Records), filepath.Join(s.Dir, "ready"))
}

// follow reads record 0, says that it is ready, and reads total more, of which it
// measures all but the first few.
func follow(tail iter.Seq2[stream.Batch, error], skip, total int, ready string) (outcome, error) {
	h := measure.NewHist()
	seen := 0
	for b, err := range tail {
		if err != nil {
			return outcome{}, err
		}
		now := clock()
		times, err := segment.ColumnOf[int64](b.Segment(), "ts")
		if err != nil {
			return outcome{}, err
		}
		for i := range times.Len() {
			if b.First() == 0 && i == 0 {
				if err := os.WriteFile(ready, nil, 0o640); err != nil {
					return outcome{}, err
				}
				continue
			}
			if seen++; seen > skip {
				h.Add(time.Duration(now - times.At(i)))
			}
		}
		if seen >= total {
			break
		}
	}
	if seen != total {
		return outcome{}, fmt.Errorf("the tail had %d records, not %d", seen, total)
	}
	return figuresOf(h), nil
}

func figuresOf(h *measure.Hist) outcome {
	m := map[string]float64{}
	h.Into(m)
	return outcome{Figures: m}
}

// followOutside runs a cell in a process of its own.
func followOutside(s spec) (o outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	in, err := json.Marshal(s)
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, self, "cell")
	c.Stdin = bytes.NewReader(in)
	out, err := c.Output()
	if err != nil {
		return o, err
	}
	if err = json.Unmarshal(out, &o); err == nil && o.Error != "" {
		err = errors.New(o.Error)
	}
	return o, err
}
