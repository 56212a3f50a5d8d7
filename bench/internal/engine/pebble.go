package engine

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "pebble", Sync: true, NoSync: true, Open: openPebble})
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

type pebbleDB struct {
	db   *pebble.DB
	how  *pebble.WriteOptions
	next atomic.Uint64
}

func openPebble(dir string, o Options) (Engine, error) {
	db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	p := &pebbleDB{db: db, how: pebble.NoSync}
	if o.Sync {
		p.how = pebble.Sync
	}
	it, err := db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	if it.Last() {
		p.next.Store(binary.BigEndian.Uint64(it.Key()) + 1)
	}
	return p, it.Close()
}

func (p *pebbleDB) Append(recs []byte) error {
	var k [8]byte
	n := uint64(len(recs) / source.Width)
	seq := p.next.Add(n) - n
	if n == 1 {
		binary.BigEndian.PutUint64(k[:], seq)
		return p.db.Set(k[:], recs, p.how)
	}
	b := p.db.NewBatchWithSize(len(recs) + int(n)*12 + 16)
	for ; len(recs) >= source.Width; recs = recs[source.Width:] {
		binary.BigEndian.PutUint64(k[:], seq)
		if err := b.Set(k[:], recs[:source.Width], nil); err != nil {
			return err
		}
		seq++
	}
	if err := b.Commit(p.how); err != nil {
		return err
	}
	return b.Close()
}

func (p *pebbleDB) Get(dst []byte, seq uint64) ([]byte, error) {
	var k [8]byte
	binary.BigEndian.PutUint64(k[:], seq)
	v, c, err := p.db.Get(k[:])
	if err != nil {
		return dst, err
	}
	dst = append(dst, v...)
	return dst, c.Close()
}

func (p *pebbleDB) Scan(from, to uint64, visit func([]byte)) error {
	var lo, hi [8]byte
	binary.BigEndian.PutUint64(lo[:], from)
	binary.BigEndian.PutUint64(hi[:], to)
	it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: lo[:], UpperBound: hi[:]})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		visit(it.Value())
	}
	return it.Close()
}

func (p *pebbleDB) Drop(seq uint64) error {
	var lo, hi [8]byte
	binary.BigEndian.PutUint64(hi[:], seq)
	return p.db.DeleteRange(lo[:], hi[:], pebble.Sync)
}

func (p *pebbleDB) Close() error { return p.db.Close() }
