package sim

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/ledger/internal/disk"
)

// outcome names an error by what callers ask of it.
func outcome(err error) string {
	for name, class := range map[string]error{
		"no error": nil, "exists": fs.ErrExist, "not there": fs.ErrNotExist, "closed": fs.ErrClosed,
		"locked": disk.ErrLocked, "no space": disk.ErrNoSpace, "not permitted": fs.ErrPermission,
	} {
		if errors.Is(err, class) {
			return name
		}
	}
	if err == io.EOF {
		return "end"
	}
	return "error"
}

// A machine does random operations and writes down what it sees.
type machine struct {
	fsys disk.FS
	root string
	log  bytes.Buffer

	files []disk.File
	ro    []bool
	maps  []disk.Mapping
	locks []io.Closer
}

func (m *machine) note(format string, args ...any) { fmt.Fprintf(&m.log, format+"\n", args...) }

func (m *machine) path(rng *rand.Rand) string {
	names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "a/x"}
	return names[rng.IntN(len(names))]
}

// step does one operation. Files keep to 300 bytes, which are there from the
// start, so that no mapping's file changes its size.
func (m *machine) step(rng *rand.Rand) {
	const size = 300
	p := m.path(rng)
	host := filepath.Join(m.root, p)
	keep := func(f disk.File, err error, ro bool) {
		if err == nil {
			m.files, m.ro = append(m.files, f), append(m.ro, ro)
		}
	}
	switch op := rng.IntN(16); op {
	case 0: // made whole, under another name, as a file of a stream is
		f, err := m.fsys.Create(host + ".tmp")
		m.note("create %s.tmp: %s", p, outcome(err))
		if err != nil {
			return
		}
		m.note("zeros: %v", disk.WriteZeros(f, size))
		if err := m.fsys.Rename(host+".tmp", host); err != nil {
			m.note("rename: %s, remove: %s", outcome(err), outcome(m.fsys.Remove(host+".tmp")))
		}
		keep(f, err, false)
	case 1:
		f, err := m.fsys.Open(host)
		m.note("open %s: %s", p, outcome(err))
		keep(f, err, true)
	case 2:
		f, err := m.fsys.OpenRW(host)
		m.note("openrw %s: %s", p, outcome(err))
		keep(f, err, false)
	case 3:
		m.note("mkdir %s: %s", p, outcome(m.fsys.Mkdir(host)))
	case 4:
		to := m.path(rng)
		m.note("rename %s %s: %s", p, to, outcome(m.fsys.Rename(host, filepath.Join(m.root, to))))
	case 5:
		m.note("remove %s: %s", p, outcome(m.fsys.Remove(host)))
	case 6:
		e, err := m.fsys.ReadDir(filepath.Join(m.root, filepath.Dir(p)))
		m.note("readdir: %+v %s", e, outcome(err))
	case 7:
		e, err := m.fsys.Stat(host)
		m.note("stat %s: %+v %s", p, e, outcome(err))
	case 8:
		m.note("syncdir %s: %s", p, outcome(m.fsys.SyncDir(host)))
	case 9:
		l, err := m.fsys.Lock(host)
		m.note("lock %s: %s", p, outcome(err))
		if err == nil {
			m.locks = append(m.locks, l)
		}
	case 10:
		if len(m.locks) > 0 {
			i := rng.IntN(len(m.locks))
			m.note("unlock: %s", outcome(m.locks[i].Close()))
		}
	default:
		m.useFile(rng, op, size)
	}
}

func (m *machine) useFile(rng *rand.Rand, op, size int) {
	if len(m.files) == 0 {
		return
	}
	i := rng.IntN(len(m.files))
	f := m.files[i]
	off, n := rng.IntN(size), 1+rng.IntN(80)
	switch op {
	case 11:
		b := make([]byte, n)
		k, err := f.ReadAt(b, int64(off))
		m.note("read %d at %d: %x %s", n, off, b[:k], outcome(err))
	case 12:
		k, err := f.WriteAt(bytes.Repeat([]byte{byte(1 + off)}, min(n, size-off)), int64(off))
		m.note("write at %d: %d %s", off, k, outcome(err))
	case 13:
		s, err := f.Size()
		m.note("size: %d %s", s, outcome(err))
		if off%4 == 0 { // the host takes its time
			m.note("sync: %s; datasync: %s", outcome(f.Sync()), outcome(f.DataSync()))
		}
	case 14:
		mp, err := f.Map(size, !m.ro[i])
		m.note("map: %s", outcome(err))
		if err == nil {
			m.maps = append(m.maps, mp)
		}
		if len(m.maps) > 6 {
			m.note("unmap: %s", outcome(m.maps[0].Unmap()))
			m.maps = m.maps[1:]
		}
		for _, mp := range m.maps {
			m.note("mapped: crc %08x", crc32.ChecksumIEEE(mp.Bytes()))
		}
		if err == nil && !m.ro[i] {
			mp.Bytes()[off] = byte(n)
			mp.WillNeed(off, n)
		}
	case 15:
		m.note("close: %s", outcome(f.Close()))
	}
}

func (m *machine) end() {
	for _, mp := range m.maps {
		_ = mp.Unmap()
	}
	for _, f := range m.files {
		_ = f.Close()
	}
	for _, l := range m.locks {
		_ = l.Close()
	}
}

// TestSameAsHost: random operations see the same on the model disk as on the
// host's.
func TestSameAsHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the model is of a system that lets names of open files go")
	}
	done := 0
	for seed := range uint64(25) {
		host := &machine{fsys: disk.OS(), root: t.TempDir()}
		model := &machine{fsys: New().FS(), root: "/"}
		a, b := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 1))
		for step := range 300 {
			host.log.Reset()
			model.log.Reset()
			host.step(a)
			model.step(b)
			if host.log.String() != model.log.String() {
				t.Fatalf("seed %d, step %d: the host says\n%sthe model\n%s", seed, step, host.log.String(), model.log.String())
			}
			done += bytes.Count(host.log.Bytes(), []byte("no error"))
		}
		host.end()
	}
	if done < 1000 {
		t.Fatalf("only %d operations succeeded", done)
	}
}

// TestCopy brings a directory to the host and back.
func TestCopy(t *testing.T) {
	s := newScript(t, New())
	s.create("a", "x")
	s.create("empty", "")
	s.must(s.Mkdir("d"))
	s.create("d/b", "yz")
	dir := filepath.Join(t.TempDir(), "copy")
	s.must(Copy(disk.OS(), dir, s, "/"))
	back := New()
	s.must(Copy(back.FS(), "/", disk.OS(), dir))
	if back.Sum() != s.d.Sum() {
		t.Errorf("copied\n%v, got\n%v", s.d, back)
	}
}
