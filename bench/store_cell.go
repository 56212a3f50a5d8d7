//go:build !duckdb

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"example.com/ledger/bench/internal/engine"
	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/source"
)

func init() {
	cells["build"] = buildCell
	cells["open"] = openCell
	cells["read"] = readCell
	cells["drop"] = dropCell
	cells["kill"] = killCell
}

func openEngine(s spec) (engine.Engine, error) {
	k, err := engine.ByName(s.Engine)
	if err != nil {
		return nil, err
	}
	return k.Open(s.Dir, engine.Options{Sync: s.Sync, Goroutines: 1, Batch: storeBatch})
}

// buildCell appends the records that are missing of s.Records.
func buildCell(s spec) (outcome, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return outcome{}, err
	}
	have := uint64(0)
	mark := filepath.Join(s.Dir, "records")
	if b, err := os.ReadFile(mark); err == nil {
		fmt.Sscan(string(b), &have)
	}
	g := source.NewGenerator()
	buf := make([]byte, storeBatch*source.Width)
	for n := uint64(0); n < have; n += storeBatch {
		g.Fill(buf[:min(storeBatch, have-n)*source.Width])
	}
	e, err := openEngine(s)
	if err != nil {
		return outcome{}, err
	}
	var in time.Duration
	for n := have; n < s.Records; {
		k := min(storeBatch, s.Records-n)
		g.Fill(buf[:k*source.Width])
		t := time.Now()
		if err := e.Append(buf[:k*source.Width]); err != nil {
			return outcome{}, err
		}
		in += time.Since(t)
		n += k
	}
	t := time.Now()
	if err := e.Close(); err != nil {
		return outcome{}, err
	}
	in += time.Since(t)
	if err := os.WriteFile(mark, fmt.Append(nil, s.Records), 0o644); err != nil {
		return outcome{}, err
	}
	return outcome{Figures: map[string]float64{"build, a record": float64(in) / float64(s.Records-have)}}, nil
}

// openCell opens a store, and reads the last of s.Records, if it is not 0.
func openCell(s spec) (outcome, error) {
	t := time.Now()
	e, err := openEngine(s)
	if err != nil {
		return outcome{}, err
	}
	if r, ok := e.(engine.Reader); ok && s.Records > 0 {
		if reads, _ := storeAbilities(s.Engine); reads {
			rec, err := r.Get(nil, s.Records-1)
			if err != nil {
				return outcome{}, err
			}
			if err := right(rec, s.Records-1); err != nil {
				return outcome{}, err
			}
		}
	}
	took := time.Since(t)
	return outcome{Figures: map[string]float64{"open": float64(took)}}, e.Close()
}

// right checks that a record is the one with that number.
func right(rec []byte, seq uint64) error {
	if len(rec) != source.Width || source.Time(rec) != source.Begin+int64(seq)*source.Step {
		return fmt.Errorf("record %d is another one: %x", seq, rec)
	}
	return nil
}

// readCell reads at random for a while, all in order, and a range of times.
func readCell(s spec) (outcome, error) {
	e, err := openEngine(s)
	if err != nil {
		return outcome{}, err
	}
	r := e.(interface {
		Scan(from, to uint64, visit func([]byte)) error
	})
	m := map[string]float64{}
	want := quantities(s.Records)
	for _, timed := range []bool{false, true} { // the first pass warms the caches
		var sum, n int64
		t := time.Now()
		if err := r.Scan(0, s.Records, func(b []byte) {
			for ; len(b) >= source.Width; b = b[source.Width:] {
				sum += source.Quantity(b)
				n++
			}
		}); err != nil {
			return outcome{}, err
		}
		if n != int64(s.Records) || sum != want {
			return outcome{}, fmt.Errorf("scanned %d records with %d, not %d with %d", n, sum, s.Records, want)
		}
		if timed {
			m["full scan, a record"] = float64(time.Since(t)) / float64(s.Records)
		}
	}
	if f, ok := e.(engine.FieldSummer); ok {
		for range 2 {
			t := time.Now()
			sum, err := f.SumQuantity(0, s.Records)
			if err != nil {
				return outcome{}, err
			}
			if sum != want {
				return outcome{}, fmt.Errorf("added up %d, not %d", sum, want)
			}
			m["one field, a record"] = float64(time.Since(t)) / float64(s.Records)
		}
	}
	if reader, ok := e.(engine.Reader); ok {
		if err := readRandom(reader, s, m); err != nil {
			return outcome{}, err
		}
		if err := readTimes(reader, s, m); err != nil {
			return outcome{}, err
		}
	}
	return outcome{Figures: m}, e.Close()
}

// quantities adds up the quantities of the first n records.
func quantities(n uint64) (sum int64) {
	g := source.NewGenerator()
	buf := make([]byte, storeBatch*source.Width)
	for n > 0 {
		k := min(n, storeBatch)
		g.Fill(buf[:k*source.Width])
		for b := buf[:k*source.Width]; len(b) > 0; b = b[source.Width:] {
			sum += source.Quantity(b)
		}
		n -= k
	}
	return sum
}

func readRandom(r engine.Reader, s spec, m map[string]float64) error {
	rnd := rand.New(rand.NewPCG(5, 6))
	h := measure.NewHist()
	buf := make([]byte, 0, source.Width)
	pass := func(d time.Duration, each bool) (n int, took time.Duration, err error) {
		begun := time.Now()
		for n&15 != 0 || time.Since(begun) < d {
			seq := rnd.Uint64N(s.Records)
			var t time.Time
			if each {
				t = time.Now()
			}
			if buf, err = r.Get(buf[:0], seq); err != nil {
				return
			}
			if each {
				h.Add(time.Since(t))
			}
			if err = right(buf, seq); err != nil {
				return
			}
			n++
		}
		return n, time.Since(begun), nil
	}
	if _, _, err := pass(s.For/4, false); err != nil {
		return err
	}
	n, took, err := pass(s.For, false) // without a clock at each
	if err != nil {
		return err
	}
	m["random read"] = float64(took) / float64(n)
	if _, _, err = pass(s.For, true); err != nil {
		return err
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"read p50", .5}, {"read p99", .99}} {
		if v, ok := h.Quantile(q.q); ok {
			m[q.name] = v
		}
	}
	return nil
}

// readTimes reads 10,000 records by their times, at several places.
func readTimes(r engine.Reader, s spec, m map[string]float64) error {
	const length = 10_000
	var took measure.Series
	for i := range uint64(9) {
		first := (s.Records - length) / 9 * i
		from := source.Begin + int64(first)*source.Step
		to := from + length*source.Step
		n := 0
		visit := func(b []byte) { n += len(b) / source.Width }
		t := time.Now()
		if tr, ok := r.(engine.TimeRanger); ok {
			if err := tr.TimeRange(from, to, visit); err != nil {
				return err
			}
		} else {
			a, err := bisect(r, s.Records, from)
			if err != nil {
				return err
			}
			b, err := bisect(r, s.Records, to)
			if err != nil {
				return err
			}
			if err := r.Scan(a, b, visit); err != nil {
				return err
			}
		}
		took = append(took, float64(time.Since(t)))
		if n != length {
			return fmt.Errorf("a time range had %d records, not %d", n, length)
		}
	}
	m["time range of 10,000"] = took.Median()
	return nil
}

// bisect finds the first of n records with that time or a later one.
func bisect(r engine.Reader, n uint64, t int64) (uint64, error) {
	lo, hi := uint64(0), n
	var buf []byte
	for lo < hi {
		mid := (lo + hi) / 2
		var err error
		if buf, err = r.Get(buf[:0], mid); err != nil {
			return 0, err
		}
		if source.Time(buf) < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// dropCell drops the older half of s.Records, and reads what must be left.
func dropCell(s spec) (outcome, error) {
	e, err := openEngine(s)
	if err != nil {
		return outcome{}, err
	}
	r, last := e.(engine.Reader), s.Records-1
	before, err := r.Get(nil, last) // what an engine does at a first read isn't the drop's
	if err != nil {
		return outcome{}, err
	}
	t := time.Now()
	if err := e.(engine.Dropper).Drop(s.Records / 2); err != nil {
		return outcome{}, err
	}
	took := time.Since(t)
	for _, seq := range []uint64{s.Records / 2, last} {
		b, err := r.Get(nil, seq)
		if err != nil {
			return outcome{}, fmt.Errorf("after the drop: %w", err)
		}
		if err := right(b, seq); err != nil || seq == last && !bytes.Equal(b, before) {
			return outcome{}, errors.Join(errors.New("after the drop a record has changed"), err)
		}
	}
	return outcome{Figures: map[string]float64{"drop half": float64(took)}}, e.Close()
}

// killCell appends half a segment, one by one, and kills itself.
func killCell(s spec) (outcome, error) {
	e, err := openEngine(s)
	if err != nil {
		return outcome{}, err
	}
	ring := source.NewRing(1)
	for n, begun := 0, time.Now(); n < 32768 && time.Since(begun) < 5*time.Second; n++ {
		if err := e.Append(ring.Next(1)); err != nil {
			return outcome{}, err
		}
	}
	return outcome{}, unix.Kill(os.Getpid(), unix.SIGKILL)
}
