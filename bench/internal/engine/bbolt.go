package engine

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "bbolt", Sync: true, NoSync: true, Open: openBolt})
}

type boltDB struct {
	db     *bolt.DB
	next   atomic.Uint64
	shared bool
}

var bucket = []byte("fills")

// openBolt has callers that come at once share a transaction, and a sync, as
// soon as all are there, and waits for them for 200 µs instead of 10 ms.
func openBolt(dir string, o Options) (Engine, error) {
	db, err := bolt.Open(filepath.Join(dir, "bolt.db"), 0o644, &bolt.Options{NoSync: !o.Sync, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	db.MaxBatchDelay = 200 * time.Microsecond
	db.MaxBatchSize = max(o.Goroutines, 1)
	b := &boltDB{db: db, shared: o.Goroutines > 1}
	err = db.Update(func(tx *bolt.Tx) error {
		bu, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		if k, _ := bu.Cursor().Last(); k != nil {
			b.next.Store(binary.BigEndian.Uint64(k) + 1)
		}
		return nil
	})
	return b, err
}

func (b *boltDB) Append(recs []byte) error {
	n := uint64(len(recs) / source.Width)
	first := b.next.Add(n) - n
	put := func(tx *bolt.Tx) error {
		bu := tx.Bucket(bucket)
		bu.FillPercent = 1 // keys only ever grow
		keys := make([]byte, 8*n)
		for i := range n {
			k := keys[8*i : 8*i+8]
			binary.BigEndian.PutUint64(k, first+i)
			// A value has to stay as it is until the transaction ends, which it does
			// before Append returns.
			if err := bu.Put(k, recs[i*source.Width:(i+1)*source.Width]); err != nil {
				return err
			}
		}
		return nil
	}
	if b.shared {
		return b.db.Batch(put)
	}
	return b.db.Update(put)
}

func (b *boltDB) Get(dst []byte, seq uint64) ([]byte, error) {
	var k [8]byte
	binary.BigEndian.PutUint64(k[:], seq)
	err := b.db.View(func(tx *bolt.Tx) error {
		v := tx.Bucket(bucket).Get(k[:])
		if v == nil {
			return fmt.Errorf("no record %d", seq)
		}
		dst = append(dst, v...)
		return nil
	})
	return dst, err
}

func (b *boltDB) Scan(from, to uint64, visit func([]byte)) error {
	var lo [8]byte
	binary.BigEndian.PutUint64(lo[:], from)
	return b.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		for k, v := c.Seek(lo[:]); k != nil && binary.BigEndian.Uint64(k) < to; k, v = c.Next() {
			visit(v)
		}
		return nil
	})
}

func (b *boltDB) Drop(seq uint64) error {
	return b.db.Update(func(tx *bolt.Tx) error {
		bu := tx.Bucket(bucket)
		var k [8]byte
		for i := range seq {
			binary.BigEndian.PutUint64(k[:], i)
			if err := bu.Delete(k[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *boltDB) Close() error { return b.db.Close() }
