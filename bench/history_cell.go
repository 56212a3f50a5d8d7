//go:build !duckdb

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"example.com/ledger/bench/internal/measure"
	"example.com/ledger/bench/internal/source"
	"example.com/ledger/stream"
)

// A history is a stream with records behind it, and what was measured of it.
type history struct {
	records uint64
	st      *stream.Stream
	ring    *source.Ring
	passes  measure.Series // ns a record
	open    float64
	heap    float64
	reads   float64
}

// historyCell opens the streams that were built, and appends s.Records passes to
// each in turn.
func historyCell(s spec) (o outcome, err error) {
	mode, err := stream.ParseDurability(s.Engine)
	if err != nil {
		return o, err
	}
	var hs []*history
	defer func() {
		for _, h := range hs {
			if h.st != nil {
				err = errors.Join(err, h.st.Close())
			}
		}
	}()
	for i := range len(s.Extra) {
		h := &history{records: uint64(s.Extra[fmt.Sprint(i)]), ring: source.NewRing(1)}
		before := heap()
		t := time.Now()
		if h.st, err = stream.Open(historyDir(s, h.records), stream.OpenOptions{}); err != nil {
			return o, err
		}
		h.open = float64(time.Since(t))
		h.heap = max(0, heap()-before)
		if h.reads, err = randomReads(h.st); err != nil {
			return o, err
		}
		hs = append(hs, h)
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	for k := range int(s.Records) {
		if k%8 == 0 { // all are opened anew, so that all have journals newly mapped
			for i, h := range hs {
				if err := h.renew(s, mode, i == 0); err != nil {
					return o, err
				}
			}
		}
		for _, i := range rnd.Perm(len(hs)) {
			if err := hs[i].pass(); err != nil {
				return o, err
			}
		}
	}
	o.Points = map[string][]float64{}
	add := func(name string, v float64) { o.Points[name] = append(o.Points[name], v) }
	for _, h := range hs {
		p := h.passes
		var ratios measure.Series
		sum := 0.0
		for k := range p {
			ratios = append(ratios, p[k]/hs[0].passes[k])
			sum += p[k]
		}
		add("append, a record", p.Median())
		add("with rolls, a record", sum/float64(len(p)))
		add("against the shortest", ratios.Median())
		add("random read", h.reads)
		add("open", h.open)
		add("heap", h.heap)
	}
	return o, nil
}

// renew opens the stream anew, or makes it anew with as many records as it began
// with, and appends a pass that isn't counted.
func (h *history) renew(s spec, mode stream.Durability, anew bool) (err error) {
	st := h.st
	h.st = nil
	if err := st.Close(); err != nil {
		return err
	}
	dir := historyDir(s, h.records)
	if anew {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if st, err = newHistory(dir, mode, h.records); err != nil {
			return err
		}
		if err := st.Close(); err != nil {
			return err
		}
	}
	if h.st, err = stream.Open(dir, stream.OpenOptions{}); err != nil {
		return err
	}
	if err := h.pass(); err != nil {
		return err
	}
	h.passes = h.passes[:len(h.passes)-1]
	return nil
}

func (h *history) pass() error {
	t := time.Now()
	for range historyPass {
		if _, _, err := h.st.Append(h.ring.Next(1)); err != nil {
			return err
		}
	}
	h.passes = append(h.passes, float64(time.Since(t))/historyPass)
	return nil
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// randomReads is the median of several passes of reads among the first 10,000
// records: the same reach, and as many warm pages, at every length.
func randomReads(st *stream.Stream) (float64, error) {
	v, err := st.Snapshot()
	if err != nil {
		return 0, err
	}
	defer v.Close()
	const reads = 2000
	rnd := rand.New(rand.NewPCG(9, 10))
	end := uint64(v.End())
	var buf []byte
	var out measure.Series
	for range 7 {
		t := time.Now()
		for range reads {
			seq := rnd.Uint64N(min(10_000, end))
			if buf, err = v.Get(buf[:0], stream.Seq(seq)); err != nil {
				return 0, err
			}
		}
		out = append(out, float64(time.Since(t))/reads)
	}
	return out.Median(), nil
}
