package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func create(t *testing.T, path string, content []byte) File {
	t.Helper()
	f, err := OS().Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f := create(t, path, []byte("hello, world"))
	if _, err := f.WriteAt([]byte("W"), 7); err != nil {
		t.Fatal(err)
	}
	for name, sync := range map[string]func() error{"Sync": f.Sync, "DataSync": f.DataSync} {
		if err := sync(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if size, err := f.Size(); size != 12 || err != nil {
		t.Fatalf("Size = %d, %v", size, err)
	}
	r, err := OS().Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]byte, 20)
	if n, err := r.ReadAt(got, 0); n != 12 || err != io.EOF || string(got[:n]) != "hello, World" {
		t.Fatalf("ReadAt = %d %q, %v", n, got[:n], err)
	}
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Fatal("a file opened for reading was written")
	}

	// Create empties a file that is there.
	if size, err := create(t, path, nil).Size(); size != 0 || err != nil {
		t.Fatalf("Size after a second Create = %d, %v", size, err)
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	fsys := OS()
	path := func(name string) string { return filepath.Join(dir, name) }
	create(t, path("b"), []byte("12345"))
	create(t, path("a"), nil)
	if err := fsys.Mkdir(path("d")); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Mkdir(path("d")); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("second Mkdir = %v, want fs.ErrExist", err)
	}
	if err := fsys.Rename(path("b"), path("a")); err != nil {
		t.Fatal(err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	want := []Entry{{Name: "a", Size: 5, Regular: true}, {Name: "d", Dir: true}}
	if got, err := fsys.ReadDir(dir); err != nil || !slices.Equal(got, want) {
		t.Fatalf("ReadDir = %v, %v, want %v", got, err, want)
	}
	for _, w := range want {
		if got, err := fsys.Stat(path(w.Name)); err != nil || got != w {
			t.Fatalf("Stat(%s) = %v, %v, want %v", w.Name, got, err, w)
		}
		if err := fsys.Remove(path(w.Name)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := fsys.Free(dir); n <= 0 || err != nil {
		t.Fatalf("Free = %d, %v", n, err)
	}

	// What isn't there is fs.ErrNotExist, by every operation.
	gone := path("gone")
	for name, op := range map[string]func() error{
		"Open":    func() error { _, err := fsys.Open(gone); return err },
		"OpenRW":  func() error { _, err := fsys.OpenRW(gone); return err },
		"Create":  func() error { _, err := fsys.Create(filepath.Join(gone, "x")); return err },
		"Mkdir":   func() error { return fsys.Mkdir(filepath.Join(gone, "x")) },
		"Rename":  func() error { return fsys.Rename(gone, path("x")) },
		"Remove":  func() error { return fsys.Remove(gone) },
		"ReadDir": func() error { _, err := fsys.ReadDir(gone); return err },
		"Stat":    func() error { _, err := fsys.Stat(gone); return err },
		"Lock":    func() error { _, err := fsys.Lock(gone); return err },
		"Free":    func() error { _, err := fsys.Free(gone); return err },
	} {
		if err := op(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing = %v, want fs.ErrNotExist", name, err)
		}
	}
}

func TestMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	f := create(t, path, nil)
	if err := WriteZeros(f, 10000); err != nil {
		t.Fatal(err)
	}
	if size, err := f.Size(); size != 10000 || err != nil {
		t.Fatalf("Size after WriteZeros = %d, %v", size, err)
	}
	for _, n := range []int{-1, 0, 10001} {
		if _, err := f.Map(n, false); err == nil {
			t.Errorf("Map(%d) of a file of 10000 succeeded", n)
		}
	}
	w, err := f.Map(10000, true)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.Bytes(), make([]byte, 10000)) {
		t.Fatal("WriteZeros left something else than 10000 zeros")
	}
	w.Bytes()[9999] = 7
	if err := f.DataSync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	r, err := OS().Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if m, err := r.Map(1, true); err == nil {
		_ = m.Unmap()
		t.Error("a file opened for reading was mapped for writing")
	}
	m, err := r.Map(10000, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, hint := range [][2]int{{0, 10000}, {5000, 1}, {9999, 100}, {-1, 1}, {10000, 1}, {0, 0}} {
		m.WillNeed(hint[0], hint[1])
	}
	w.Bytes()[9998] = 8 // the mapping outlives its file
	if got := m.Bytes()[9998:]; got[0] != 8 || got[1] != 7 {
		t.Errorf("the second mapping shows %v, want [8 7]", got)
	}
	for _, m := range []Mapping{w, m} {
		if err := m.Unmap(); err != nil {
			t.Error(err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || content[9998] != 8 {
		t.Errorf("the file ends in %v, %v", content[9998:], err)
	}
}

func TestDataSyncAllocatesNothing(t *testing.T) {
	f := create(t, filepath.Join(t.TempDir(), "a"), []byte("x"))
	if n := testing.AllocsPerRun(20, func() {
		if err := f.DataSync(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("DataSync allocates %v times", n)
	}
}
