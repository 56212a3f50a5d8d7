package stream

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/internal/disk"
)

// An outrun is a disk on which the writer goes on each time a reader opens a journal.
type outrun struct {
	disk.FS
	goOn  func()
	left  int // how often
	lists int // of the directory
}

func (o *outrun) Open(path string) (disk.File, error) {
	if o.left > 0 && strings.HasPrefix(filepath.Base(path), "journal.") {
		o.left--
		o.goOn()
	}
	return o.FS.Open(path)
}

func (o *outrun) ReadDir(path string) ([]disk.Entry, error) {
	o.lists++
	return o.FS.ReadDir(path)
}

// TestReaderOutrun: a writer that rolls and seals while a reader looks may make no
// sense of that look. It is tried again, and no snapshot shows a gap or damage.
func TestReaderOutrun(t *testing.T) {
	const snapshots = 25
	again := 0
	for _, mode := range modes {
		dir := filepath.Join(t.TempDir(), "s")
		s := must[*Stream](t)(Create(dir, Options{Schema: stampSchema, Capacity: 4, Durability: mode}))
		put(t, s, 6)
		r := must[*Reader](t)(OpenReader(dir))
		o := &outrun{FS: disk.OS()}
		o.goOn = func() {
			put(t, s, 1+o.left%7)
			if o.left%3 == 0 {
				settle(t, s)
			}
		}
		r.fsys = o
		for range snapshots {
			put(t, s, 8) // behind a roll the reader has to look at all
			least := uint64(s.Cursors().Published)
			o.left = 25
			n := must[*Snapshot](t)(r.Snapshot())
			end := uint64(0)
			for b, err := range n.Range(n.First(), n.End()) {
				if err != nil {
					t.Fatalf("%v: %v", mode, err)
				}
				if uint64(b.First()) != end {
					t.Fatalf("%v: a batch from %d behind %d", mode, b.First(), end)
				}
				end = uint64(b.End())
			}
			if end < least {
				t.Errorf("%v: the reader ends at %d, %d was published before", mode, end, least)
			}
			n.Close()
		}
		again += o.lists/2 - snapshots
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if again < 5 {
		t.Errorf("%d looks made no sense: the test saw too little", again)
	}
}
