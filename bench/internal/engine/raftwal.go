package engine

import (
	"errors"

	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"

	"example.com/ledger/bench/internal/source"
)

func init() {
	// It always syncs.
	register(Kind{Name: "raft-wal", Sync: true, Open: openRaftWAL})
}

type raftLog struct {
	lock
	w    *raftwal.WAL
	meta *metadb.BoltMetaDB // which closing the WAL leaves open, and locked
	logs []*raft.Log
	next uint64 // indexes begin at 1
}

func openRaftWAL(dir string, o Options) (Engine, error) {
	meta := &metadb.BoltMetaDB{}
	w, err := raftwal.Open(dir, raftwal.WithMetaStore(meta))
	if err != nil {
		return nil, err
	}
	last, err := w.LastIndex()
	if err != nil {
		return nil, err
	}
	r := &raftLog{lock: newLock(o), w: w, meta: meta, next: last + 1}
	for range batchMax(o) {
		r.logs = append(r.logs, &raft.Log{Term: 1})
	}
	return r, nil
}

func (r *raftLog) Append(recs []byte) error {
	r.lock.lock()
	defer r.lock.unlock()
	n := len(recs) / source.Width
	for i := range n {
		r.logs[i].Index = r.next + uint64(i)
		r.logs[i].Data = recs[i*source.Width : (i+1)*source.Width]
	}
	r.next += uint64(n)
	return r.w.StoreLogs(r.logs[:n])
}

func (r *raftLog) Get(dst []byte, seq uint64) ([]byte, error) {
	var l raft.Log
	err := r.w.GetLog(seq+1, &l)
	return append(dst, l.Data...), err
}

func (r *raftLog) Scan(from, to uint64, visit func([]byte)) error {
	var l raft.Log
	for i := from + 1; i <= to; i++ {
		if err := r.w.GetLog(i, &l); err != nil {
			return err
		}
		visit(l.Data)
	}
	return nil
}

func (r *raftLog) Drop(seq uint64) error { return r.w.DeleteRange(1, seq) }

func (r *raftLog) Close() error { return errors.Join(r.w.Close(), r.meta.Close()) }
