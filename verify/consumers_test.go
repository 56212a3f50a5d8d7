package verify_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// TestConsumers: consumers are checked and not noted; one that is damaged, or not
// what its name says, is reported, and repair sets it aside and keeps the others.
func TestConsumers(t *testing.T) {
	dir, _ := commitCols.make(t)
	commit := func(dir, name string) string {
		c, err := stream.OpenConsumer(dir, name)
		check(err)
		check(c.Commit(3))
		return filepath.Join(dir, "consumers", name+".json")
	}
	commit(dir, "well")
	path := commit(dir, "ill")
	if r := clean(t, dir); len(r.Notes) > 0 {
		t.Errorf("noted:\n%s", text(r))
	}
	good, err := os.ReadFile(path)
	check(err)
	flipped := append([]byte(nil), good...)
	flipped[20] ^= 1
	named, err := os.ReadFile(filepath.Join(dir, "consumers", "well.json"))
	check(err)
	other, _ := commitCols.make(t)
	foreign, err := os.ReadFile(commit(other, "ill"))
	check(err)
	for _, c := range []struct {
		what, kind string
		content    []byte
	}{
		{"a bit", verify.KindMetadata, flipped},
		{"cut", verify.KindMetadata, good[:10]},
		{"empty", verify.KindMetadata, nil},
		{"of another name", verify.KindForeign, named},
		{"of another stream", verify.KindForeign, foreign},
	} {
		check(os.WriteFile(path, c.content, 0o640))
		r, err := verify.Stream(context.Background(), dir)
		if err != nil || len(r.Problems) != 1 || r.Problems[0].File != "consumers/ill.json" || r.Problems[0].Kind != c.kind {
			t.Errorf("%s: %+v, %v, want %s", c.what, r, err, c.kind)
		}
		fix, err := verify.Repair(context.Background(), dir, true)
		if err != nil || len(fix.Actions) != 1 || fix.Actions[0].Op != verify.OpQuarantine || !fix.After.OK {
			t.Errorf("%s: %+v, %v", c.what, fix, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: it is still there", c.what)
		}
	}
	aside, err := filepath.Glob(filepath.Join(dir, "quarantine", "ill.json*"))
	if err != nil || len(aside) != 5 {
		t.Errorf("in quarantine: %v, %v, want five", aside, err)
	}
	c, err := stream.OpenConsumer(dir, "well")
	if err != nil || c.Position() != 3 {
		t.Errorf("the other one: %v, %v", c, err)
	}
}

// A moment is a disk that calls f before the first operation that at names, and
// then does it.
type moment struct {
	disk.FS
	at func(op, path string) bool
	f  func()
}

func (m *moment) meet(op, path string) {
	if f := m.f; f != nil && m.at(op, path) {
		m.f = nil
		f()
	}
}

func (m *moment) Lock(dir string) (io.Closer, error) {
	m.meet("lock", dir)
	return m.FS.Lock(dir)
}

func (m *moment) Remove(path string) error {
	m.meet("remove", path)
	return m.FS.Remove(path)
}

// TestCommitBesideRepair: a consumer that is at work while repair finds its file
// damaged keeps what it commits, before repair has come to the file and when it
// is about to take it away.
func TestCommitBesideRepair(t *testing.T) {
	for _, before := range []bool{true, false} {
		dir, _ := commitCols.make(t)
		c, err := stream.OpenConsumer(dir, "feed")
		check(err)
		check(c.Commit(3))
		path := filepath.Join(dir, "consumers", "feed.json")
		check(os.WriteFile(path, []byte("{}"), 0o640))

		committed := make(chan error, 1)
		m := &moment{FS: disk.OS()}
		if before {
			m.at = func(op, p string) bool { return p == filepath.Dir(path) || op == "remove" && p == path }
			m.f = func() { committed <- c.Commit(5) }
		} else {
			m.at = func(op, p string) bool { return op == "remove" && p == path }
			m.f = func() { go func() { committed <- c.Commit(5) }() } // it waits for its turn
		}
		fix, err := verify.RepairOn(t.Context(), m, dir, true)
		check(err)
		check(<-committed)
		if !fix.After.OK {
			t.Errorf("before %v: %s", before, text(fix.After))
		}
		if before && len(fix.Actions) > 0 {
			t.Errorf("it says that it did %v", fix.Actions)
		}
		if c, err = stream.OpenConsumer(dir, "feed"); err != nil || c.Position() != 5 {
			t.Errorf("before %v: the commit is lost: position %d, %v", before, c.Position(), err)
		}
	}
}
