package faults

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk/frozen"
	"example.com/ledger/segment"
)

func segmentName(first int) string { return segment.Name(uint64(first)) }

// scratch is a directory for a test that needs files, and no disk under them: in
// memory, where the system has that, so that syncs don't wait for others'.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "faults")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// copyFiles copies the files of a stream's directory, but for its folders.
func copyFiles(t testing.TB, to, from string) {
	t.Helper()
	check(t, os.MkdirAll(to, 0o750))
	for name, b := range load(t, from) {
		check(t, os.WriteFile(filepath.Join(to, name), b, 0o640))
	}
}

// load reads the files of a directory, but for its folders. A file that was renamed
// between being listed and being read (an open stream makes journals ahead) makes it
// begin again.
func load(t testing.TB, dir string) frozen.Dir {
	t.Helper()
	for range 100 {
		m, err := loadOnce(dir)
		if err == nil {
			return m
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatalf("the files of %s never stood still", dir)
	return nil
}

func loadOnce(dir string) (frozen.Dir, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	m := frozen.Dir{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if m[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return m, nil
}
