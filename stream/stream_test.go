package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// small is a schema with padding: width 24, px at 16, side at 20, 3 bytes free.
func small(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "side", Kind: schema.U8})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recs makes n records whose values say which append they are from.
func recs(s *schema.Schema, id, n int) []byte {
	b := make([]byte, n*s.Width())
	for i := range n {
		r := b[i*s.Width():]
		schema.PutTime(r, int64(id*1000+i))
		binary.LittleEndian.PutUint32(r[16:], uint32(id))
		r[20] = byte(i)
		r[21] = 0xee // padding: to be zeroed
	}
	return b
}

// A failer is a testing.TB or a rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must[T any](t failer) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// all reads a stream's records in row form.
func all(t testing.TB, n *Snapshot) []byte {
	t.Helper()
	var out []byte
	for b, err := range n.Range(n.First(), n.End()) {
		if err != nil {
			t.Fatal(err)
		}
		if out, err = b.Rows(out); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var modes = []Durability{Commit, Sealed, Os}

// TestTheExample is the example of the design: capacity 4, appends of 3 and 7.
func TestTheExample(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			sch := small(t)
			dir := filepath.Join(t.TempDir(), "s")
			s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4, Durability: mode}))
			defer s.Close()
			for _, c := range []struct{ n, first int }{{3, 0}, {7, 3}} {
				first, n, err := s.Append(recs(sch, c.n, c.n))
				if err != nil || int(first) != c.first || n != c.n {
					t.Fatalf("Append of %d = %d, %d, %v; want %d, %d, nil", c.n, first, n, err, c.first, c.n)
				}
			}
			s.mu.Lock()
			err := s.drain(8)
			s.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			n := must[*Snapshot](t)(s.Snapshot())
			defer n.Close()
			var got string
			for _, g := range must[[]SegmentInfo](t)(n.Segments()) {
				got += fmt.Sprintf("%d-%d %s;", g.First, uint64(g.First)+g.Count, g.State)
			}
			if want := "0-4 sealed;4-8 sealed;8-10 active;"; got != want {
				t.Fatalf("segments are %s, want %s", got, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "a", "b", "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4}))
	if _, _, err := s.Append(make([]byte, 25)); !errors.Is(err, ErrBatchSize) {
		t.Errorf("25 bytes: %v, want ErrBatchSize", err)
	}
	if _, _, err := s.Append(recs(sch, 1, 9)); !errors.Is(err, ErrBatchTooLarge) {
		t.Errorf("9 records: %v, want ErrBatchTooLarge", err)
	}
	if _, _, err := s.AppendAt(1, recs(sch, 1, 1)); !errors.Is(err, ErrSeqMismatch) {
		t.Errorf("AppendAt(1) on an empty stream: %v, want ErrSeqMismatch", err)
	}
	if first, n, err := s.AppendAt(0, recs(sch, 1, 1)); first != 0 || n != 1 || err != nil {
		t.Errorf("AppendAt(0) = %d, %d, %v", first, n, err)
	}
	if _, err := Create(dir, Options{Schema: sch}); !errors.Is(err, ErrLocked) {
		t.Errorf("Create beside a writer: %v, want ErrLocked", err)
	}
	if _, err := Open(dir, OpenOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("Open beside a writer: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v, want ErrClosed", err)
	}
	if _, _, err := s.Append(recs(sch, 1, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v, want ErrClosed", err)
	}
	if _, err := Create(dir, Options{Schema: sch}); !errors.Is(err, ErrExists) {
		t.Errorf("Create over a stream: %v, want ErrExists", err)
	}
	if _, err := Open(filepath.Join(dir, "nothing"), OpenOptions{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Open of nothing: %v, want ErrNotFound", err)
	}
	other := Os
	if _, err := Open(dir, OpenOptions{Durability: &other}); !errors.Is(err, ErrOption) {
		t.Errorf("Open as Os: %v, want ErrOption", err)
	}
	if _, err := Create(t.TempDir(), Options{Capacity: -1, Durability: 9}); !errors.Is(err, ErrOption) {
		t.Errorf("bad options: %v, want ErrOption", err)
	}
	for name, o := range map[string]Options{
		"the zero Schema":        {Schema: &schema.Schema{}},
		"a policy that is wrong": {Schema: sch, Retention: retention.Policy{MaxBytes: -1}},
	} {
		dir := filepath.Join(t.TempDir(), "s")
		if _, err := Create(dir, o); !errors.Is(err, ErrOption) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrOption", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a directory was made", name)
		}
	}
}

// TestReopen: what was appended is there after Close and Open, bit for bit.
func TestReopen(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			sch := small(t)
			dir := filepath.Join(t.TempDir(), "s")
			s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4, Durability: mode}))
			var want []byte
			for round := range 7 {
				b := recs(sch, round, round)
				if _, _, err := s.Append(b); err != nil {
					t.Fatal(err)
				}
				want = append(want, b...)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = must[*Stream](t)(Open(dir, OpenOptions{}))
				n := must[*Snapshot](t)(s.Snapshot())
				if got := all(t, n); string(got) != string(want) {
					t.Fatalf("round %d: read %x, want %x; report %+v", round, got, want, s.Report())
				}
				n.Close()
			}
			before := must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 9}, false))
			if len(before) != 2 {
				t.Fatalf("dropped %v, want two segments", before)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = must[*Stream](t)(Open(dir, OpenOptions{}))
			defer s.Close()
			n := must[*Snapshot](t)(s.Snapshot())
			defer n.Close()
			if n.First() != 8 || n.End() != 21 {
				t.Fatalf("after retention [%d, %d), want [8, 21)", n.First(), n.End())
			}
			if got := all(t, n); string(got) != string(want[8*sch.Width():]) {
				t.Fatalf("after retention: read %x, want %x", got, want[8*sch.Width():])
			}
			if _, err := n.Get(nil, 3); !errors.Is(err, ErrDropped) {
				t.Fatalf("Get of a dropped record: %v, want ErrDropped", err)
			}
		})
	}
}

// TestFirstSeq: a stream can go on with another's numbers.
func TestFirstSeq(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch, Capacity: 4, FirstSeq: 8}))
	if first, n, err := s.Append(recs(sch, 1, 6)); first != 8 || n != 6 || err != nil {
		t.Fatalf("Append = %d, %d, %v; want 8, 6, nil", first, n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = must[*Stream](t)(Open(dir, OpenOptions{}))
	defer s.Close()
	n := must[*Snapshot](t)(s.Snapshot())
	defer n.Close()
	if n.First() != 8 || n.End() != 14 {
		t.Fatalf("reopened: [%d, %d), want [8, 14)", n.First(), n.End())
	}
	if _, err := n.Get(nil, 7); !errors.Is(err, ErrDropped) {
		t.Fatalf("Get(7): %v, want ErrDropped", err)
	}
	if _, err := Create(t.TempDir(), Options{Schema: sch, FirstSeq: 1 << 63}); !errors.Is(err, ErrOption) {
		t.Fatalf("FirstSeq 2^63: %v, want ErrOption", err)
	}
}

// TestCreateOverOrphans: where stream.json alone is lost, Create doesn't take the
// directory for an interrupted creation.
func TestCreateOverOrphans(t *testing.T) {
	sch := small(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := must[*Stream](t)(Create(dir, Options{Schema: sch}))
	if _, _, err := s.Append(recs(sch, 1, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := must[os.FileInfo](t)(os.Stat(filepath.Join(dir, "journal.0")))
	if err := os.Remove(filepath.Join(dir, "stream.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, Options{Schema: sch}); !errors.Is(err, ErrExists) {
		t.Fatalf("Create: %v, want ErrExists", err)
	}
	if after := must[os.FileInfo](t)(os.Stat(filepath.Join(dir, "journal.0"))); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Fatal("the journal was changed")
	}
}
