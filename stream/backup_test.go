package stream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestBackupOntoItself: a stream is no place for its own copy, whatever names it,
// and is not taken for a copy that went its own way: those may be removed.
func TestBackupOntoItself(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "s"), filepath.Join(root, "link")
	s := must[*Stream](t)(Create(dir, Options{Schema: small(t)}))
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	refused := func(state string) {
		t.Helper()
		for _, dest := range []string{dir, dir + "/.", link, filepath.Join(dir, "copy"), filepath.Join(link, "a", "copy")} {
			if _, err := Backup(context.Background(), dir, dest); !errors.Is(err, ErrOption) || errors.Is(err, ErrExists) {
				t.Fatalf("Backup of a stream that is %s to %s: %v, want ErrOption", state, dest, err)
			}
		}
	}
	refused("open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	refused("closed")
	for _, dest := range []string{dir + "-copy", filepath.Join(root, "..copy")} { // names that only begin alike
		if _, err := Backup(context.Background(), dir, dest); err != nil {
			t.Errorf("Backup to %s: %v", dest, err)
		}
	}
}
