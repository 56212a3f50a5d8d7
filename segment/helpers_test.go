package segment_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// fillSchema is the compact fill of docs/format.md: 40 bytes, 28 in columns.
func fillSchema(t testing.TB) *schema.Schema {
	t.Helper()
	return mustSchema(t,
		schema.Field{Name: "px", Kind: schema.I32},
		schema.Field{Name: "qty", Kind: schema.I32},
		schema.Field{Name: "taker", Kind: schema.U32},
		schema.Field{Name: "maker", Kind: schema.U32},
		schema.Field{Name: "sym", Kind: schema.U16},
		schema.Field{Name: "side", Kind: schema.U8},
		schema.Field{Name: "flags", Kind: schema.U8},
	)
}

func mustSchema(t testing.TB, fields ...schema.Field) *schema.Schema {
	t.Helper()
	s, err := schema.New(schema.Nanosecond, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomRows makes n records from first on, their fields random bytes and their
// times random or ascending.
func randomRows(s *schema.Schema, r *rand.Rand, first uint64, n int, sorted bool) []byte {
	rows := make([]byte, n*s.Width())
	for i := range rows {
		rows[i] = byte(r.Uint32())
	}
	for i := range n {
		rec := rows[i*s.Width():]
		schema.PutSeq(rec, first+uint64(i))
		if sorted {
			schema.PutTime(rec, int64(i)*1000+r.Int64N(1000))
		}
	}
	s.ClearPadding(rows)
	return rows
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// encode returns the image of a file and its header.
func encode(t testing.TB, m segment.Meta, layout segment.Layout, rows []byte) ([]byte, segment.Header) {
	t.Helper()
	var w segment.Writer
	image, h, err := w.Encode(m, layout, rows, 1_700_000_000_000, segment.FlagDurable)
	if err != nil {
		t.Fatal(err)
	}
	return image, h
}

// writeFile encodes rows, writes them to a directory of the test's own, and
// opens the file.
func writeFile(t testing.TB, m segment.Meta, layout segment.Layout, rows []byte) *segment.File {
	t.Helper()
	image, h := encode(t, m, layout, rows)
	path := filepath.Join(t.TempDir(), segment.Name(h.First))
	if err := os.WriteFile(path, image, 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := segment.Open(disk.OS(), path, m.Schema, h.Tag)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Evict() })
	return f
}

// acquire holds f until the test ends.
func acquire(t testing.TB, f *segment.File) segment.Segment {
	t.Helper()
	g, err := f.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return g
}

// A memFS has one file, in memory: path is looked at no further than its name,
// so that a test can change the bytes under an open File.
type memFS struct {
	disk.FS
	data   []byte
	mapErr func() error // the error of the next Map
	opens  atomic.Int32
	maps   atomic.Int32 // mappings alive
}

func (m *memFS) Open(path string) (disk.File, error) {
	if m.data == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	m.opens.Add(1)
	return &memFile{Reader: bytes.NewReader(m.data), m: m}, nil
}

type memFile struct {
	*bytes.Reader
	disk.File
	m *memFS
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) { return f.Reader.ReadAt(p, off) }
func (f *memFile) Size() (int64, error)                    { return f.Reader.Size(), nil }
func (f *memFile) Close() error                            { return nil }

func (f *memFile) Map(n int, writable bool) (disk.Mapping, error) {
	if f.m.mapErr != nil {
		if err := f.m.mapErr(); err != nil {
			return nil, err
		}
	}
	f.m.maps.Add(1)
	return memMapping{f.m.data[:n], f.m}, nil
}

type memMapping struct {
	b []byte
	m *memFS
}

func (m memMapping) Bytes() []byte       { return m.b }
func (m memMapping) WillNeed(off, n int) { _ = m.b[off : off+n] }
func (m memMapping) Populate()           {}
func (m memMapping) Unmap() error        { m.m.maps.Add(-1); return nil }
