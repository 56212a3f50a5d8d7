package engine

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"

	"example.com/ledger/bench/internal/source"
	"golang.org/x/sys/unix"
)

// The floors: what the machine itself takes for the same bytes.
const (
	FloorSource    = "floor: making the records"
	FloorMemcpy    = "floor: memcpy"
	FloorStore     = "floor: store into a mapped file"
	FloorStoreCRC  = "floor: store and CRC-32C"
	FloorPwrite    = "floor: pwrite"
	FloorFdatasync = "floor: pwrite and fdatasync"
)

// floorBytes is the size of the file that a floor writes to, round and round: as
// much as Ledger's journals have.
const floorBytes = 16 * 65536 * source.Width

func init() {
	register(Kind{Name: FloorSource, Floor: true, NoSync: true, Open: func(string, Options) (Engine, error) { return nothing{}, nil }})
	register(Kind{Name: FloorMemcpy, Floor: true, NoSync: true, Open: func(_ string, o Options) (Engine, error) {
		m := make([]byte, 65536*source.Width)
		clear(m)
		return &store{lock: newLock(o), mem: m}, nil
	}})
	register(Kind{Name: FloorStore, Floor: true, NoSync: true, Open: func(dir string, o Options) (Engine, error) { return openStore(dir, o, false) }})
	register(Kind{Name: FloorStoreCRC, Floor: true, NoSync: true, Open: func(dir string, o Options) (Engine, error) { return openStore(dir, o, true) }})
	register(Kind{Name: FloorPwrite, Floor: true, NoSync: true, Open: openPwrite})
	register(Kind{Name: FloorFdatasync, Floor: true, Sync: true, Open: openPwrite})
}

type nothing struct{}

func (nothing) Append([]byte) error { return nil }
func (nothing) Close() error        { return nil }

// store copies the records to memory, which may be a file's.
type store struct {
	lock
	mem    []byte
	at     int
	crc    bool
	sum    uint32
	mapped bool
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func openStore(dir string, o Options, crc bool) (Engine, error) {
	f, err := written(filepath.Join(dir, "floor"), 1<<20) // large folios are best for stores
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, floorBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(m); i += 4096 {
		m[i] = 0 // faulted in, as a journal is ahead of its use
	}
	return &store{lock: newLock(o), mem: m, crc: crc, mapped: true}, nil
}

func (s *store) Append(recs []byte) error {
	s.lock.lock()
	if s.at+len(recs) > len(s.mem) {
		s.at = 0
	}
	s.at += copy(s.mem[s.at:], recs)
	if s.crc {
		s.sum ^= crc32.Checksum(recs, castagnoli)
	}
	s.lock.unlock()
	return nil
}

func (s *store) Close() error {
	if s.mapped {
		return unix.Munmap(s.mem)
	}
	return nil
}

// written makes a file of floorBytes zeros that are really on disk.
func written(path string, piece int) (*os.File, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	for n := 0; n < floorBytes && err == nil; n += piece {
		_, err = f.Write(make([]byte, min(piece, floorBytes-n)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// pwriter writes into a written file; with sync, callers that wait share one
// fdatasync: a leader writes and syncs for all who came meanwhile.
type pwriter struct {
	f    *os.File
	fd   int
	at   int64
	sync bool

	mu         sync.Mutex
	done       *sync.Cond
	wait       []byte
	spare      []byte
	taken, end uint64 // groups begun, and groups that are durable
	busy       bool
	err        error
	alone      bool
}

func openPwrite(dir string, o Options) (Engine, error) {
	f, err := written(filepath.Join(dir, "floor"), 4096) // small folios are best for pwrite
	if err != nil {
		return nil, err
	}
	p := &pwriter{f: f, fd: int(f.Fd()), sync: o.Sync, alone: o.Goroutines <= 1}
	p.done = sync.NewCond(&p.mu)
	return p, nil
}

func (p *pwriter) write(b []byte) error {
	if p.at+int64(len(b)) > floorBytes {
		p.at = 0
	}
	if _, err := unix.Pwrite(p.fd, b, p.at); err != nil {
		return err
	}
	p.at += int64(len(b))
	if p.sync {
		return unix.Fdatasync(p.fd)
	}
	return nil
}

func (p *pwriter) Append(recs []byte) error {
	if p.alone {
		return p.write(recs)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sync {
		return p.write(recs)
	}
	p.wait = append(p.wait, recs...)
	group := p.taken
	for p.end <= group && p.err == nil {
		if p.busy {
			p.done.Wait()
			continue
		}
		p.busy = true
		batch := p.wait
		p.wait = p.spare[:0]
		p.taken++
		p.mu.Unlock()
		err := p.write(batch)
		p.mu.Lock()
		p.spare, p.busy, p.err = batch, false, err
		p.end = p.taken
		p.done.Broadcast()
	}
	return p.err
}

func (p *pwriter) Close() error { return p.f.Close() }
