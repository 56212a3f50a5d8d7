package stream

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/meta"
	"example.com/ledger/shapes"
)

// putSidecar writes a sidecar as other programs do.
func putSidecar(t *testing.T, dir, name, id, more string) {
	t.Helper()
	b, err := meta.EncodeSidecar(struct {
		Version int    `json:"version"`
		Stream  string `json:"stream"`
		More    string `json:"more"`
	}{1, id, more})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), b, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSidecars: what ledgerctl keeps beside a stream goes where the stream goes,
// if it is whole and no link; other files stay where they are.
func TestSidecars(t *testing.T) {
	dir, dest := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "copy")
	s, err := Create(dir, Options{Schema: shapes.FillSchema(), Durability: Os})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.Append(make([]byte, 40)); err != nil {
		t.Fatal(err)
	}
	id := meta.FormatID(s.Info().ID)
	backup := func() error { _, err := Backup(t.Context(), dir, dest); return err }
	same := func(name string, want bool) {
		t.Helper()
		a, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dest, name))
		if (err == nil && string(a) == string(b)) != want {
			t.Errorf("%s is in the copy: %v (%v), want %v", name, !want, err, want)
		}
	}
	for _, more := range []string{"a", "b"} {
		for _, name := range []string{meta.DictionaryFile, meta.ImportsFile, "notes.json"} {
			putSidecar(t, dir, name, id, more)
		}
		if err := backup(); err != nil {
			t.Fatal(err)
		}
		same(meta.DictionaryFile, true)
		same(meta.ImportsFile, true)
		same("notes.json", false)
	}
	// One that is damaged, or another stream's, leaves the copy's alone.
	if err := os.WriteFile(filepath.Join(dir, meta.DictionaryFile), []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	putSidecar(t, dir, meta.ImportsFile, meta.FormatID([16]byte{1}), "c")
	var damage *CorruptError
	if err := backup(); !errors.Is(err, ErrCorrupt) || !errors.As(err, &damage) || filepath.Dir(damage.Path) != dir {
		t.Errorf("damaged sidecars: %v, want ErrCorrupt", err)
	}
	same(meta.DictionaryFile, false)
	same(meta.ImportsFile, false)
	if _, err := os.Stat(filepath.Join(dest, meta.DictionaryFile)); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Remove takes them, and not what a link points to.
	outside := filepath.Join(t.TempDir(), "outside")
	putSidecar(t, filepath.Dir(outside), "outside", id, "x")
	if err := os.Remove(filepath.Join(dir, meta.DictionaryFile)); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(outside, filepath.Join(dir, meta.DictionaryFile)) == nil
	if err := os.Remove(filepath.Join(dir, "notes.json")); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); linked != (err == nil) {
		t.Errorf("the directory, with a link in it %v: %v", linked, err)
	}
	if _, err := os.Stat(filepath.Join(dir, meta.ImportsFile)); err == nil {
		t.Error("imports.json is still there")
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	if err := Remove(dest); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dest); err == nil {
		t.Error("the copy is still there")
	}
}
