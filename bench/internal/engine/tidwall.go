package engine

import (
	"path/filepath"

	"github.com/tidwall/wal"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "tidwall/wal", Sync: true, NoSync: true, Open: openTidwall})
}

type tidwall struct {
	lock
	log   *wal.Log
	batch wal.Batch
	next  uint64 // indexes begin at 1
}

// openTidwall lets reads go without a copy, and keeps the segments of a whole
// store in memory: with the default of two, random reads would parse files anew.
func openTidwall(dir string, o Options) (Engine, error) {
	opts := *wal.DefaultOptions
	opts.NoSync = !o.Sync
	opts.NoCopy = true
	opts.SegmentCacheSize = 64
	l, err := wal.Open(filepath.Join(dir, "wal"), &opts)
	if err != nil {
		return nil, err
	}
	last, err := l.LastIndex()
	if err != nil {
		return nil, err
	}
	return &tidwall{lock: newLock(o), log: l, next: last + 1}, nil
}

func (t *tidwall) Append(recs []byte) error {
	t.lock.lock()
	defer t.lock.unlock()
	if len(recs) == source.Width {
		t.next++
		return t.log.Write(t.next-1, recs)
	}
	t.batch.Clear()
	for ; len(recs) >= source.Width; recs = recs[source.Width:] {
		t.batch.Write(t.next, recs[:source.Width])
		t.next++
	}
	return t.log.WriteBatch(&t.batch)
}

func (t *tidwall) Get(dst []byte, seq uint64) ([]byte, error) {
	b, err := t.log.Read(seq + 1)
	return append(dst, b...), err
}

func (t *tidwall) Scan(from, to uint64, visit func([]byte)) error {
	for i := from + 1; i <= to; i++ {
		b, err := t.log.Read(i)
		if err != nil {
			return err
		}
		visit(b)
	}
	return nil
}

func (t *tidwall) Drop(seq uint64) error { return t.log.TruncateFront(seq + 1) }
func (t *tidwall) Close() error          { return t.log.Close() }
