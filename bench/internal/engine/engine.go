// Package engine drives Ledger, its peers and the physical floors through one
// interface, each as its makers would have it driven.
//
// All get the same records, as bytes, and number them densely from 0. A batch is
// one unit: with Sync it is on disk, all of it, when Append returns; without, it
// has been handed to the system, or to the engine where that is what the engine
// offers. Keys are sequence numbers, values the whole 40 bytes.
package engine

import (
	"fmt"
	"sync"
)

// Options say how an engine is opened.
type Options struct {
	Sync       bool // batches are durable when Append returns
	Goroutines int  // how many will append at once; 0 is 1
	Batch      int  // records of the largest batch; 0 is 4,096
}

// An Engine is a store that is open on a directory.
type Engine interface {
	// Append appends a batch. It may be called from Options.Goroutines goroutines.
	// The records may be changed by it, and by the caller when it has returned.
	Append(recs []byte) error
	Close() error
}

// A Reader is an engine that can be read. One goroutine reads.
type Reader interface {
	// Get appends record seq to dst.
	Get(dst []byte, seq uint64) ([]byte, error)
	// Scan hands over the records of [from, to) in order, one or many at a time.
	Scan(from, to uint64, visit func(recs []byte)) error
}

// A Dropper is an engine that can drop its oldest records.
type Dropper interface {
	// Drop removes what is below seq, or as much of it as the engine removes at
	// once, and returns when it is removed.
	Drop(seq uint64) error
}

// A TimeRanger finds records by time itself; for others their numbers are found
// by bisection.
type TimeRanger interface {
	// TimeRange hands over the records with times in [from, to), nanoseconds.
	TimeRange(from, to int64, visit func(recs []byte)) error
}

// A FieldSummer can add up one field without reading the others.
type FieldSummer interface {
	// SumQuantity adds up the quantities of the records of [from, to).
	SumQuantity(from, to uint64) (int64, error)
}

// A Kind is an engine, or a floor, that can be opened.
type Kind struct {
	Name  string // "tidwall/wal"
	Floor bool
	// Sync and NoSync say in which of the two the kind can be used at all.
	Sync, NoSync bool
	Open         func(dir string, o Options) (Engine, error)
}

var kinds []Kind

// register adds a kind; the files of this package do it in their init functions.
func register(k Kind) { kinds = append(kinds, k) }

// order is that in which kinds are run and printed.
var order = []string{
	FloorSource, FloorMemcpy, FloorStore, FloorStoreCRC, FloorPwrite, FloorFiles, FloorFilesSynced, FloorFdatasync,
	"Ledger commit", "Ledger sealed", "Ledger os",
	"tidwall/wal", "pebble", "etcd wal", "raft-wal", "bbolt", "SQLite", "NATS JetStream",
}

// Kinds returns all kinds in the order in which they are printed.
func Kinds() []Kind {
	out := make([]Kind, 0, len(kinds))
	for _, name := range order {
		for _, k := range kinds {
			if k.Name == name {
				out = append(out, k)
			}
		}
	}
	return out
}

// ByName finds a kind.
func ByName(name string) (Kind, error) {
	for _, k := range kinds {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("no engine %q", name)
}

// A lock guards engines that want their batches in order from one goroutine. With
// one goroutine it costs nothing.
type lock struct {
	mu sync.Mutex
	on bool
}

func newLock(o Options) lock { return lock{on: o.Goroutines > 1} }

func (l *lock) lock() {
	if l.on {
		l.mu.Lock()
	}
}

func (l *lock) unlock() {
	if l.on {
		l.mu.Unlock()
	}
}

func batchMax(o Options) int {
	if o.Batch == 0 {
		return 4096
	}
	return o.Batch
}
