package segment_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// open writes n fills to memory and opens the file.
func open(t testing.TB, n int) (*segment.File, *memFS) {
	t.Helper()
	s := fillSchema(t)
	image, h := encode(t, segment.Meta{Schema: s}, segment.Columns, randomRows(s, newRand(9), 0, n, true))
	fsys := &memFS{data: bytes.Clone(image)}
	f, err := segment.Open(fsys, segment.Name(0), s, h.Tag)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Evict() })
	return f, fsys
}

// TestMappedLazily: opening and asking for bounds maps nothing, the first
// Acquire does, and it opens the file once.
func TestMappedLazily(t *testing.T) {
	f, fsys := open(t, 10)
	if _, _, ok := f.Bounds(0); !ok || f.Mapped() || fsys.maps.Load() != 0 {
		t.Fatalf("mapped %v, %d mappings", f.Mapped(), fsys.maps.Load())
	}
	fsys.opens.Store(0)
	for range 3 {
		if _, err := f.Acquire(); err != nil {
			t.Fatal(err)
		}
	}
	if !f.Mapped() || fsys.maps.Load() != 1 || fsys.opens.Load() != 1 {
		t.Errorf("mapped %v, %d mappings, %d opens", f.Mapped(), fsys.maps.Load(), fsys.opens.Load())
	}
	for range 3 {
		f.Release()
	}
	if f.Mapped() == segment.Eager {
		t.Errorf("after the last Release mapped %v", f.Mapped())
	}
}

// TestEvict: a mapping in use outlives Evict until the last Release, may be
// acquired anew meanwhile, and ends once.
func TestEvict(t *testing.T) {
	f, fsys := open(t, 10)
	if !f.Evict() {
		t.Error("a file that was never mapped is mapped")
	}
	g, err := f.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	if f.Evict() || f.Evict() {
		t.Error("unmapped while in use")
	}
	if _, err := f.Acquire(); err != nil {
		t.Fatal(err)
	}
	f.Release()
	if _, err := g.Record(nil, 0); err != nil || fsys.maps.Load() != 1 {
		t.Fatalf("%d mappings, %v", fsys.maps.Load(), err)
	}
	f.Release()
	if f.Mapped() || fsys.maps.Load() != 0 {
		t.Errorf("mapped %v, %d mappings", f.Mapped(), fsys.maps.Load())
	}
	if _, err := f.Acquire(); err != nil || fsys.maps.Load() != 1 {
		t.Errorf("acquired again: %d mappings, %v", fsys.maps.Load(), err)
	}
	f.Release()
	if !f.Evict() || fsys.maps.Load() != 0 {
		t.Errorf("%d mappings", fsys.maps.Load())
	}
}

func TestReleaseTooOften(t *testing.T) {
	f, _ := open(t, 1)
	if !panics(f.Release) {
		t.Error("never acquired: no panic")
	}
	f, _ = open(t, 1)
	if _, err := acquireRows(f); err != nil {
		t.Fatal(err)
	}
	if !panics(f.Release) {
		t.Error("released twice: no panic")
	}
}

// TestAcquireConcurrently: goroutines use a file while others evict it, and all
// see its records; at the end nothing is mapped.
func TestAcquireConcurrently(t *testing.T) {
	f, fsys := open(t, 300)
	want, err := acquireRows(f)
	if err != nil {
		t.Fatal(err)
	}
	var users, evicters sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		evicters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f.Evict()
					runtime.Gosched()
				}
			}
		})
	}
	for range 4 {
		users.Go(func() {
			for range 200 {
				got, err := acquireRows(f)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("other records, %v", err)
					return
				}
				if _, _, ok := f.Bounds(0); !ok {
					t.Error("no bounds")
				}
			}
		})
	}
	users.Wait()
	close(stop)
	evicters.Wait()
	if !f.Evict() || fsys.maps.Load() != 0 {
		t.Errorf("mapped %v, %d mappings at the end", f.Mapped(), fsys.maps.Load())
	}
}

func acquireRows(f *segment.File) ([]byte, error) {
	g, err := f.Acquire()
	if err != nil {
		return nil, err
	}
	defer f.Release()
	return g.Rows(nil, 0, g.Len())
}

// TestLimitMaps: unused mappings above the limit end, the least recently used
// among them, and those in use stay.
func TestLimitMaps(t *testing.T) {
	if segment.Eager {
		t.Skip("this build keeps no unused mappings")
	}
	defer segment.LimitMaps(segment.LimitMaps(1)) // which ends those of other tests
	segment.LimitMaps(4)
	files := make([]*segment.File, 12)
	for i := range files {
		files[i], _ = open(t, 5)
	}
	held := acquire(t, files[0])
	for range 3 {
		for i, f := range files {
			if _, err := acquireRows(f); err != nil {
				t.Fatal(err)
			}
			if n := segment.Maps(); n > 4 || !f.Mapped() {
				t.Fatalf("file %d: %d mappings, its own %v", i, n, f.Mapped())
			}
		}
	}
	if !files[0].Mapped() {
		t.Error("a file in use was unmapped")
	}
	if _, err := held.Record(nil, 0); err != nil {
		t.Error(err)
	}
	for _, f := range files {
		acquire(t, f)
	}
	if n := segment.Maps(); n != len(files) {
		t.Errorf("%d mappings, %d are in use", n, len(files))
	}
	if old := segment.LimitMaps(-1); old != 4 {
		t.Errorf("the limit was %d", old)
	}
}

// TestMapFails: an error of mapping is the system's, not damage; if there are
// mappings that nobody uses, some end and it is tried again.
func TestMapFails(t *testing.T) {
	no := errors.New("cannot allocate memory")
	defer segment.LimitMaps(segment.LimitMaps(1)) // so that other tests' don't end in the place of ours
	f, fsys := open(t, 5)
	fsys.mapErr = func() error { return no }
	if _, err := f.Acquire(); !errorIs(err, no) || errors.Is(err, segment.ErrCorrupt) || f.Mapped() {
		t.Errorf("%v, mapped %v", err, f.Mapped())
	}
	if segment.Eager {
		return // and keeps nothing that could end
	}
	other, _ := open(t, 5)
	if _, err := acquireRows(other); err != nil {
		t.Fatal(err)
	}
	fsys.mapErr = func() error {
		if other.Mapped() {
			return no
		}
		return nil
	}
	if _, err := acquireRows(f); err != nil || other.Mapped() {
		t.Errorf("%v; the other is mapped: %v", err, other.Mapped())
	}
}

// TestFileReplaced: what is at the path at mapping must be what was opened.
func TestFileReplaced(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *memFS)
		is     error
	}{
		"gone":           {func(m *memFS) { m.data = nil }, fs.ErrNotExist},
		"shorter":        {func(m *memFS) { m.data = m.data[:len(m.data)-1] }, segment.ErrShort},
		"longer":         {func(m *memFS) { m.data = append(m.data, 0) }, segment.ErrCorrupt},
		"another header": {func(m *memFS) { m.data[48]++ }, segment.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			f, fsys := open(t, 5)
			tt.change(fsys)
			_, err := f.Acquire()
			if !errorIs(err, tt.is) || errors.Is(err, segment.ErrCorrupt) != (tt.is != fs.ErrNotExist) {
				t.Errorf("%v, want %v", err, tt.is)
			}
			if f.Mapped() {
				t.Error("mapped")
			}
		})
	}
}

// TestUnlinked: a file that is mapped goes on working when its name is gone.
func TestUnlinked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be removed there")
	}
	s := fillSchema(t)
	f := writeFile(t, segment.Meta{Schema: s}, segment.Columns, randomRows(s, newRand(1), 0, 10, true))
	g := acquire(t, f)
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Rows(nil, 0, 10); err != nil {
		t.Error(err)
	}
	if err := f.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestTruncatedUnderReaders: bytes that the file no longer has are an error of
// reading, wherever they are touched first.
func TestTruncatedUnderReaders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut short there")
	}
	s := fillSchema(t)
	rows := randomRows(s, newRand(1), 0, 10_000, true)
	for _, layout := range []segment.Layout{segment.Columns, segment.Rows} {
		for what, read := range map[string]func(f *segment.File, g segment.Segment) error{
			"footer": func(_ *segment.File, g segment.Segment) error { return g.Check(0) },
			"rows":   func(_ *segment.File, g segment.Segment) error { _, err := g.Rows(nil, 0, g.Len()); return err },
			"record": func(_ *segment.File, g segment.Segment) error { _, err := g.Record(nil, g.Len()-1); return err },
			"check":  func(f *segment.File, _ segment.Segment) error { return f.Check(context.Background()) },
			"column": func(_ *segment.File, g segment.Segment) error {
				_, err := segment.ColumnOf[uint8](g, "flags")
				return err
			},
			"record, checked before": func(f *segment.File, g segment.Segment) error {
				_, err := g.Record(nil, g.Len()-1)
				return err
			},
		} {
			t.Run(layout.String()+"/"+what, func(t *testing.T) {
				f := writeFile(t, segment.Meta{Schema: s}, layout, rows)
				g := acquire(t, f)
				if what == "record, checked before" {
					if err := f.Check(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Truncate(f.Path(), 4096); err != nil {
					t.Fatal(err)
				}
				if err := read(f, g); !errorIs(err, disk.ErrFault) {
					t.Errorf("%v, want ErrFault", err)
				}
			})
		}
	}
}

func TestOpenErrors(t *testing.T) {
	s := fillSchema(t)
	dir := t.TempDir()
	if _, err := segment.Open(disk.OS(), filepath.Join(dir, segment.Name(0)), s, 0); !errorIs(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
	if _, err := segment.Open(disk.OS(), dir, s, 0); err == nil || errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("a directory: %v", err)
	}
	image, h := encode(t, segment.Meta{Schema: s}, segment.Columns, randomRows(s, newRand(1), 7, 5, true))
	if _, err := segment.Open(&memFS{data: image}, segment.Name(8), s, h.Tag); !errorIs(err, segment.ErrCorrupt) {
		t.Errorf("under another name: %v", err)
	}
	if _, err := segment.Open(&memFS{data: image}, segment.Name(7)+".tmp", s, h.Tag); err != nil {
		t.Errorf("under a name of no segment: %v", err)
	}
	other, err := s.WithScale("px", 3)
	if err != nil {
		t.Fatal(err)
	}
	f, err := segment.Open(&memFS{data: image}, segment.Name(7), other, h.Tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := acquire(t, f).Check(0); !errorIs(err, segment.ErrCorrupt) {
		t.Errorf("another schema with the same tag: %v", err)
	}
	narrow := mustSchema(t, schema.Field{Name: "px", Kind: schema.I32})
	if _, err := segment.Open(&memFS{data: image}, segment.Name(7), narrow, h.Tag); !errorIs(err, segment.ErrCorrupt) {
		t.Errorf("another width: %v", err)
	}
}
