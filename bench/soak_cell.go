//go:build !duckdb

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ledger/bench/internal/source"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func init() { cells["soak"] = soakCell }

// What the soak does.
const (
	soakRate  = 400_000 // records a second on a stream that doesn't sync
	soakBatch = 64
	// soakCapacity is less than the default, so that there are more segments to come
	// and go.
	soakCapacity = 16384
	// soakCommitPart is the part of what the others keep that is kept of Commit.
	soakCommitPart = 15
)

var soakCounts = []string{"records appended", "records dropped", "records tailed", "values summed", "single reads", "snapshots", "segments sealed", "appends that waited"}

// A soak is what goes on in the process.
type soak struct {
	ctx                                    context.Context
	wg                                     sync.WaitGroup
	once                                   sync.Once
	err                                    error
	stop                                   context.CancelFunc
	appended, tailed, summed, reads, snaps atomic.Uint64
	streams                                []*stream.Stream
}

// fail ends the soak with its first error.
func (k *soak) fail(err error) {
	if err != nil && k.ctx.Err() == nil {
		k.once.Do(func() { k.err = err; k.stop() })
	}
}

func (k *soak) run(f func() error) { k.wg.Go(func() { k.fail(f()) }) }

func soakCell(s spec) (outcome, error) {
	k := &soak{}
	k.ctx, k.stop = context.WithTimeout(context.Background(), s.For)
	defer k.stop()
	for _, mode := range []stream.Durability{stream.Commit, stream.Sealed, stream.Os} {
		keep := s.Records
		if mode == stream.Commit { // which is slower, and is to reach it soon as well
			keep /= soakCommitPart
		}
		st, err := stream.Create(filepath.Join(s.Dir, mode.String()), stream.Options{
			Schema: shapes.FillSchema(), Durability: mode, Capacity: soakCapacity, Retention: retention.Policy{KeepRecords: keep},
		})
		if err != nil {
			return outcome{}, err
		}
		k.streams = append(k.streams, st)
		if mode == stream.Commit {
			for range 8 {
				k.run(func() error { return k.write(st, 1, 0) })
			}
		} else {
			k.run(func() error { return k.write(st, soakBatch, soakRate) })
		}
		k.run(func() error { return k.scan(st) })
		k.run(func() error { return k.look(st) })
		k.run(func() error { return k.tail(st) })
	}
	begun := time.Now()
	o := outcome{Points: map[string][]float64{}}
	tick := time.NewTicker(max(s.For/1000, min(250*time.Millisecond, s.For/40)))
	defer tick.Stop()
	for k.ctx.Err() == nil {
		select {
		case <-k.ctx.Done():
		case <-tick.C:
			k.sample(s.Dir, time.Since(begun), o.Points)
		}
	}
	k.wg.Wait()
	o.Figures = map[string]float64{
		"seconds": time.Since(begun).Seconds(), "records appended": float64(k.appended.Load()), "records tailed": float64(k.tailed.Load()),
		"values summed": float64(k.summed.Load()), "single reads": float64(k.reads.Load()), "snapshots": float64(k.snaps.Load()),
	}
	for _, st := range k.streams {
		stats, err := st.Stats()
		k.err = errors.Join(k.err, err, st.Close())
		o.Figures["records dropped"] += float64(stats.Dropped)
		o.Figures["segments sealed"] += float64(stats.Seals)
		o.Figures["appends that waited"] += float64(stats.Waits)
	}
	return o, k.err
}

// sample reads the gauges.
func (k *soak) sample(dir string, at time.Duration, p map[string][]float64) {
	add := func(name string, v float64) { p[name] = append(p[name], v) }
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	maps, _ := os.ReadFile("/proc/self/maps")
	fds, _ := os.ReadDir("/proc/self/fd")
	add("seconds", at.Seconds())
	add("own memory", status("RssAnon:"))
	add("resident memory", status("VmRSS:"))
	add("Go heap", float64(m.HeapInuse))
	add("maps", float64(bytes.Count(maps, []byte{'\n'})))
	add("descriptors", float64(len(fds)))
	add("disk", float64(diskUse(dir)))
}

// status reads a line of what the system says of the process, in bytes.
func status(name string) float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			var kib float64
			fmt.Sscan(rest, &kib)
			return kib * 1024
		}
	}
	return 0
}

// write appends batches, at a rate unless it is 0.
func (k *soak) write(st *stream.Stream, batch int, rate float64) error {
	ring := source.NewRing(batch)
	begun := time.Now()
	for n := 0; k.ctx.Err() == nil; n += batch {
		if rate > 0 && n%(16*batch) == 0 {
			if !k.pause(time.Duration(float64(n)/rate*1e9) - time.Since(begun)) {
				return nil
			}
		}
		if _, _, err := st.Append(ring.Next(batch)); err != nil {
			return err
		}
		k.appended.Add(uint64(batch))
	}
	return nil
}

// pause waits, and reports whether the soak goes on.
func (k *soak) pause(d time.Duration) bool {
	if d <= 0 {
		return k.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-k.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// scan adds up one column of a random tenth of a snapshot.
func (k *soak) scan(st *stream.Stream) error {
	for k.pause(20 * time.Millisecond) {
		v, err := st.Snapshot()
		if err != nil {
			return err
		}
		k.snaps.Add(1)
		first, n := v.First(), uint64(v.End()-v.First())
		if n > 10 {
			from := first + stream.Seq(rand.Uint64N(n-n/10))
			for b, err := range v.Range(from, from+stream.Seq(n/10)) {
				if err != nil {
					return errors.Join(err, v.Close())
				}
				c, err := segment.ColumnOf[int32](b.Segment(), "qty")
				if err != nil {
					return errors.Join(err, v.Close())
				}
				sum := int64(0)
				for i := range c.Len() {
					sum += int64(c.At(i))
				}
				if sum < int64(c.Len()) { // quantities are 1 or more
					return errors.Join(fmt.Errorf("a sum of %d over %d quantities", sum, c.Len()), v.Close())
				}
				k.summed.Add(uint64(c.Len()))
			}
		}
		if err := v.Close(); err != nil {
			return err
		}
	}
	return nil
}

// look reads single records at random.
func (k *soak) look(st *stream.Stream) error {
	var buf []byte
	for k.pause(5 * time.Millisecond) {
		v, err := st.Snapshot()
		if err != nil {
			return err
		}
		k.snaps.Add(1)
		for range 100 {
			if v.End() == v.First() {
				break
			}
			seq := v.First() + stream.Seq(rand.Uint64N(uint64(v.End()-v.First())))
			if buf, err = v.Get(buf[:0], seq); err != nil {
				return errors.Join(err, v.Close())
			}
			k.reads.Add(1)
		}
		if err := v.Close(); err != nil {
			return err
		}
	}
	return nil
}

// tail follows the writer; where retention is faster, it goes on behind the gap.
func (k *soak) tail(st *stream.Stream) error {
	for b, err := range st.Tail(k.ctx, 0) {
		var gone *stream.DroppedError
		switch {
		case errors.As(err, &gone):
			continue
		case err != nil:
			return err
		}
		k.tailed.Add(uint64(b.Len()))
	}
	return nil
}
