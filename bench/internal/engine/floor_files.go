package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.com/ledger/bench/internal/source"
)

// The floors of sealing: 65,536 records at a time, at the 28 bytes that a fill
// takes in columns, become a new file by one write; synced, the file is given its
// name and the directory is synced, too, as a Sealed stream has to.
const (
	FloorFiles       = "floor: new files, 28 bytes a record"
	FloorFilesSynced = "floor: the same files, synced"

	sealedRecords = 65536
	SealedBytes   = sealedRecords * 28 // of such a file
)

func init() {
	register(Kind{Name: FloorFiles, Floor: true, NoSync: true, Open: func(dir string, o Options) (Engine, error) { return openFiles(dir, o, false) }})
	register(Kind{Name: FloorFilesSynced, Floor: true, NoSync: true, Open: func(dir string, o Options) (Engine, error) { return openFiles(dir, o, true) }})
}

type files struct {
	lock
	dir   *os.File
	sync  bool
	rows  []byte
	image []byte
	at    int
	n     int
}

func openFiles(dir string, o Options, sync bool) (Engine, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &files{lock: newLock(o), dir: d, sync: sync, rows: make([]byte, sealedRecords*source.Width), image: make([]byte, SealedBytes)}
	for i := range f.image {
		f.image[i] = byte(i)
	}
	return f, nil
}

func (f *files) Append(recs []byte) error {
	f.lock.lock()
	defer f.lock.unlock()
	for len(recs) > 0 {
		k := copy(f.rows[f.at:], recs)
		f.at += k
		recs = recs[k:]
		if f.at < len(f.rows) {
			continue
		}
		f.at = 0
		if err := WriteFile(f.dir, fmt.Sprint(f.n), f.image, f.sync); err != nil {
			return err
		}
		f.n++
	}
	return nil
}

// WriteFile puts a file with that content into a directory.
func WriteFile(dir *os.File, name string, image []byte, sync bool) error {
	path := filepath.Join(dir.Name(), name)
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(image)
	if err == nil && sync {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil || !sync {
		return err
	}
	return dir.Sync()
}

func (f *files) Close() error { return f.dir.Close() }
