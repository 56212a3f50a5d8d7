package ask

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnswers: every engine that this program is built with gives the answers of
// the plain loop.
func TestAnswers(t *testing.T) {
	const n = 140_000 // two full segments, and one that isn't
	truth, err := Truth(n)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, k := range Kinds() {
		if k.Load != nil {
			dir := filepath.Join(root, k.Name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := k.Load(dir, n); err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
		}
	}
	for _, k := range Kinds() {
		for _, threads := range []int{1, 2} {
			home := k.Name
			if k.Needs != "" {
				home = k.Needs
			}
			e, err := k.Open(filepath.Join(root, home), n, threads)
			if err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			for _, q := range Names {
				a, ok, err := e.Ask(q)
				if err != nil {
					t.Errorf("%s, %s: %v", k.Name, q, err)
				} else if ok && !k.Floor && a.String() != truth[q].String() {
					t.Errorf("%s, %s: %v, want %v", k.Name, q, a, truth[q])
				}
			}
			if err := e.Close(); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	}
}
