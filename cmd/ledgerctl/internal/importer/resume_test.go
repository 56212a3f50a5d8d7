package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/cmd/ledgerctl/internal/sidecar"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// manyRows is a file of n trades, of which many are equal to the one before.
func manyRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d.5,1\n", 1672531436+i/7, i/3%11)
	}
	return b.String()
}

// endings are ways in which an import of n rows may have ended: how many rows are
// in the stream, and what the position on disk says of them.
func TestResume(t *testing.T) {
	const rows = 300
	content := manyRows(rows)
	for _, c := range []struct {
		there, done int
		foreign     int // records that somebody else has appended since
	}{
		{0, 0, 0}, {100, 0, 0}, {100, 60, 0}, {100, 100, 0}, {299, 128, 0}, {300, 0, 0}, {300, 299, 0}, {300, 128, 5},
		{0, 0, 5}, {100, 0, 5}, {100, 100, 5}, {7, 3, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{Dir: dir, Paths: []string{path}, Preset: preset(t, "kraken"), Stream: stream.Options{Durability: stream.Os, Capacity: 32}}
			// Another stream's complete import tells what the records and the position are.
			full := o
			full.Dir = filepath.Join(t.TempDir(), "full")
			if _, err := Import(t.Context(), full); err != nil {
				t.Fatal(err)
			}
			want := records(t, full.Dir)
			var pos positions
			if _, err := sidecar.Read(full.Dir, PositionFile, &pos); err != nil {
				t.Fatal(err)
			}
			sch := want[0].s
			s, err := stream.Create(dir, stream.Options{Schema: sch, Durability: stream.Os, Capacity: 32})
			if err != nil {
				t.Fatal(err)
			}
			const before = 3 // the stream isn't empty
			stranger := make([]byte, sch.Width())
			schema.PutTime(stranger, 1)
			for range before {
				appendOne(t, s, stranger)
			}
			for _, r := range want[:c.there] {
				appendOne(t, s, append([]byte(nil), r.rec...))
			}
			for range c.foreign {
				appendOne(t, s, stranger)
			}
			p, err := loadPositions(dir, s.Info().ID)
			if err != nil {
				t.Fatal(err)
			}
			x := pos.Imports[0]
			x.Done, x.Next = uint64(c.done), uint64(before+c.done)
			if err := p.put(x); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for again := range 2 {
				r, err := Import(t.Context(), o)
				there := uint64(c.there)
				if again > 0 {
					there = rows
				}
				if err != nil || r.There != there || r.Appended != rows-there {
					t.Fatalf("run %d: %d appended, %d there, %v; want %d there", again, r.Appended, r.There, err, there)
				}
			}
			got := records(t, dir)
			if len(got) != before+rows+c.foreign {
				t.Fatalf("%d records", len(got))
			}
			i := 0
			for _, r := range got {
				if schema.Time(r.rec) == 1 {
					continue
				}
				if string(r.rec[8:]) != string(want[i].rec[8:]) {
					t.Fatalf("row %d is %s, want %s", i, r, want[i])
				}
				i++
			}
			if i != rows {
				t.Errorf("%d rows", i)
			}
		})
	}
}

func appendOne(t *testing.T, s *stream.Stream, rec []byte) {
	t.Helper()
	if _, _, err := s.Append(rec); err != nil {
		t.Fatal(err)
	}
}

// TestCancel: an import that is told to end says how far it came, and goes on there.
func TestCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(manyRows(20000)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	size, read := int64(len(manyRows(20000))), int64(0)
	o := Options{Dir: filepath.Join(t.TempDir(), "s"), Paths: []string{path}, Preset: preset(t, "kraken"),
		Stream: stream.Options{Durability: stream.Os, Capacity: 4096},
		Progress: func(n int64) {
			if read += n; read > size { // the second reading has begun
				cancel()
			}
		}}
	first, err := Import(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", first, err)
	}
	o.Progress = nil
	second, err := Import(t.Context(), o)
	if err != nil || second.There != first.Appended || first.Appended+second.Appended != 20000 {
		t.Fatalf("first %+v, then %+v, %v", first, second, err)
	}
	if n := len(records(t, o.Dir)); n != 20000 {
		t.Errorf("%d records", n)
	}
}

// TestPositionRefused: what can't be told is not guessed.
func TestPositionRefused(t *testing.T) {
	o := Options{Dir: filepath.Join(t.TempDir(), "s"), Preset: preset(t, "kraken"), Stream: stream.Options{Durability: stream.Os, Capacity: 32}}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(manyRows(10)), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Paths = []string{path}
	if _, err := Import(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(o.Dir, PositionFile)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*positions)) {
		var p positions
		if err := sidecar.Decode(good, &p); err != nil {
			t.Fatal(err)
		}
		f(&p)
		if err := sidecar.Write(o.Dir, PositionFile, p); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(*positions)
		want   error
		say    string
	}{
		"another stream's": {func(p *positions) { p.Stream = strings.Repeat("0", 32) }, stream.ErrCorrupt, "another stream"},
		"a later version":  {func(p *positions) { p.Version = 2 }, stream.ErrVersion, "version 2"},
		"beyond the end":   {func(p *positions) { p.Imports[0].Done, p.Imports[0].Next = 9, 11 }, nil, "the stream ends at 10"},
		"another mapping":  {func(p *positions) { p.Imports[0].Mapping = "x" }, nil, "in another way: x"},
		"other rows":       {func(p *positions) { p.Imports[0].Records = 11 }, nil, "in another way"},
	} {
		change(c.change)
		r, err := Import(t.Context(), o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || r.Appended != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
