package engine

import (
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "etcd wal", Sync: true, NoSync: true, Open: openEtcd})
}

type etcdWAL struct {
	lock
	w     *wal.WAL
	ents  []*raftpb.Entry
	state *raftpb.HardState
	next  uint64
	old   []*raftpb.Entry // what ReadAll gave: a log has to be read before it is written to
}

func openEtcd(dir string, o Options) (Engine, error) {
	dir = filepath.Join(dir, "wal")
	term := uint64(1)
	e := &etcdWAL{lock: newLock(o), state: &raftpb.HardState{Term: &term, Vote: &term, Commit: new(uint64)}, next: 1}
	var err error
	if _, serr := os.Stat(dir); serr == nil {
		if e.w, err = wal.Open(zap.NewNop(), dir, &walpb.Snapshot{Index: new(uint64), Term: new(uint64)}); err != nil {
			return nil, err
		}
		if _, _, e.old, err = e.w.ReadAll(); err != nil {
			return nil, err
		}
		e.next = uint64(len(e.old)) + 1
	} else if e.w, err = wal.Create(zap.NewNop(), dir, nil); err != nil {
		return nil, err
	}
	if !o.Sync {
		e.w.SetUnsafeNoFsync()
	}
	for range batchMax(o) {
		e.ents = append(e.ents, &raftpb.Entry{Term: &term, Index: new(uint64), Type: raftpb.EntryNormal.Enum()})
	}
	return e, nil
}

func (e *etcdWAL) Append(recs []byte) error {
	e.lock.lock()
	defer e.lock.unlock()
	n := len(recs) / source.Width
	for i := range n {
		*e.ents[i].Index = e.next + uint64(i)
		e.ents[i].Data = recs[i*source.Width : (i+1)*source.Width]
	}
	*e.state.Commit = e.next
	e.next += uint64(n)
	return e.w.Save(e.state, e.ents[:n])
}

// Scan goes through what opening has read: there is no other way.
func (e *etcdWAL) Scan(from, to uint64, visit func([]byte)) error {
	for _, x := range e.old[from:to] {
		visit(x.Data)
	}
	return nil
}

func (e *etcdWAL) Close() error { return e.w.Close() }
