// Package reader has no Go code but this test: read.py is a reader of streams in
// another language, written from docs/format.md alone. What it prints must be
// what the engine reads.
package reader

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// python returns the interpreter, or skips the test and says so.
func python(t *testing.T) string {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the second reader was not compared")
	}
	return path
}

// every has a field of each kind, in an order that needs padding in between and
// at the end.
func every(t *testing.T) *schema.Schema {
	s, err := schema.New(schema.Microsecond,
		schema.Field{Name: "a", Kind: schema.I8},
		schema.Field{Name: "b", Kind: schema.U64, Scale: 3},
		schema.Field{Name: "c", Kind: schema.U8},
		schema.Field{Name: "d", Kind: schema.I16},
		schema.Field{Name: "e", Kind: schema.U32},
		schema.Field{Name: "f_0123456789", Kind: schema.I64, Scale: 18},
		schema.Field{Name: "g", Kind: schema.U16},
		schema.Field{Name: "h", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "i", Kind: schema.U8},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// batch makes n records with values from the whole range of each kind. Times go
// back now and then.
func batch(s *schema.Schema, from, n int) []byte {
	b := make([]byte, n*s.Width())
	for i := range n {
		rec := b[i*s.Width() : (i+1)*s.Width()]
		x := uint64(from+i) * 0x9E3779B97F4A7C15
		schema.PutTime(rec, int64(from+i)*1000-int64(x%5000))
		for f := range s.NumFields() {
			// The bytes of x, cut to the kind: every bit pattern is a value.
			k := s.Field(f).Kind
			for j := range k.Size() {
				rec[s.Offset(f)+j] = byte(x >> (8 * j))
			}
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	return b
}

// read runs read.py.
func read(t *testing.T, dir string) (out, errs string, err error) {
	cmd := exec.Command(python(t), "read.py", dir)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// expected writes what the engine reads as read.py should.
func expected(t *testing.T, dir string) string {
	r, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s := v.Schema()
	b := []byte("seq,ts")
	for _, f := range s.Fields() {
		b = append(append(b, ','), f.Name...)
	}
	b = append(b, '\n')
	var rows []byte
	for batch, err := range v.Range(0, v.End()) {
		if errors.Is(err, stream.ErrDropped) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows, err = batch.Rows(rows[:0]); err != nil {
			t.Fatal(err)
		}
		for rec := rows; len(rec) > 0; rec = rec[s.Width():] {
			b = strconv.AppendUint(b, schema.Seq(rec), 10)
			b = strconv.AppendInt(append(b, ','), schema.Time(rec), 10)
			for i, f := range s.Fields() {
				b = append(b, ',')
				if f.Kind.Signed() {
					b = strconv.AppendInt(b, s.Int(rec, i), 10)
				} else {
					b = strconv.AppendUint(b, s.Uint(rec, i), 10)
				}
			}
			b = append(b, '\n')
		}
	}
	return string(b)
}

// same fails unless read.py prints what the engine reads, which is at least so
// many records.
func same(t *testing.T, dir string, records int) {
	t.Helper()
	want := expected(t, dir)
	got, errs, err := read(t, dir)
	if err != nil {
		t.Fatalf("read.py: %v: %s", err, errs)
	}
	if n := strings.Count(want, "\n") - 1; n < records {
		t.Fatalf("the engine reads %d records, want %d", n, records)
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d of read.py:\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("read.py prints %d lines, want %d", len(g), len(w))
	}
}

func appendAll(t *testing.T, s *stream.Stream, from int, sizes ...int) (end int) {
	t.Helper()
	for _, n := range sizes {
		if _, _, err := s.Append(batch(s.Schema(), from, n)); err != nil {
			t.Fatal(err)
		}
		from += n
	}
	return from
}

// copyDir copies a stream's files as a crash would leave them. A file that is
// renamed meanwhile (an open stream makes journals ahead) makes it begin again.
func copyDir(t *testing.T, dir string) string {
	var err error
	for range 100 {
		to := filepath.Join(t.TempDir(), "copy")
		if err = os.CopyFS(to, os.DirFS(dir)); err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	t.Fatal(err)
	return ""
}

// TestReadsWhatTheEngineReads: every mode and layout, beside the writer that is
// still open, in a copy as a kill would leave it, and after Close.
func TestReadsWhatTheEngineReads(t *testing.T) {
	python(t)
	type options = stream.Options
	fill, every := shapes.FillSchema(), every(t)
	for name, o := range map[string]options{
		"commit, columns": {Schema: fill, Durability: stream.Commit, Layout: segment.Columns},
		"sealed, rows":    {Schema: fill, Durability: stream.Sealed, Layout: segment.Rows},
		"os, columns":     {Schema: every, Durability: stream.Os, Layout: segment.Columns},
		"commit, rows":    {Schema: every, Durability: stream.Commit, Layout: segment.Rows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			o.Capacity = 64
			s, err := stream.Create(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			same(t, dir, 0)
			// Batches that end at a segment's end, cross one, and cross two.
			end := appendAll(t, s, 0, 1, 63, 60, 10, 120, 7, 1)
			same(t, dir, end)
			same(t, copyDir(t, dir), end)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			same(t, dir, end)
		})
	}
}

// TestReadsTheRest: dropped ranges, numbered batches, segments ended early, other
// settings later on, and numbers that don't begin at 0.
func TestReadsTheRest(t *testing.T) {
	python(t)
	dir := filepath.Join(t.TempDir(), "s")
	s, err := stream.Create(dir, stream.Options{Schema: every(t), Capacity: 512, Durability: stream.Sealed, FirstSeq: 1000})
	if err != nil {
		t.Fatal(err)
	}
	end := appendAll(t, s, 0, 300)
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, _, err := s.AppendOnce(stream.ProducerID{7}, uint64(i), batch(s.Schema(), end, 250)); err != nil {
			t.Fatal(err)
		}
		end += 250
	}
	if _, err := s.Retain(retention.Policy{BeforeSeq: 1300}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	same(t, dir, 750)
	if _, errs, _ := read(t, dir); !strings.Contains(errs, "are gone: retention") {
		t.Errorf("read.py says %q of what retention took", errs)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, dir, 750)
	capacity := 128
	if _, err := stream.Alter(dir, stream.Change{Capacity: &capacity}, stream.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err = stream.Open(dir, stream.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, end, 100, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, dir, 1050)
}

// TestTornTail: the last frame of a copy is cut short at each of its words; the
// rest is read, as the engine reads it.
func TestTornTail(t *testing.T) {
	python(t)
	dir := filepath.Join(t.TempDir(), "s")
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Capacity: 64, Durability: stream.Sealed})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	appendAll(t, s, 0, 5, 1)
	frame := 4096 + 16 + 5*40 // of the second batch
	for at := frame; at < frame+16+40; at += 16 {
		torn := copyDir(t, dir)
		path := filepath.Join(torn, "journal.0")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clear(b[at:])
		if err := os.WriteFile(path, b, 0o640); err != nil {
			t.Fatal(err)
		}
		same(t, torn, 5)
	}
}

// TestSaysWhatIsDamaged: a bit of a sealed column, and acknowledged records of a
// journal.
func TestSaysWhatIsDamaged(t *testing.T) {
	python(t)
	dir := filepath.Join(t.TempDir(), "s")
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Capacity: 64})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, 0, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		at   int
		want string
	}{
		{"00000000000000000000.seg", 8, "bad header checksum"},
		{"00000000000000000000.seg", 100, "bad checksum of ts"},
		{"00000000000000000000.seg", 64*29 + 70, "bad footer checksum"},
		{"journal.1", 4096 + 16 + 20, "were acknowledged and are gone"},
		{"stream.json", 20, "bad checksum"},
	} {
		bad := copyDir(t, dir)
		path := filepath.Join(bad, c.file)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[c.at] ^= 1
		if err := os.WriteFile(path, b, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, errs, err := read(t, bad); err == nil || !strings.Contains(errs, c.want) {
			t.Errorf("%s, byte %d: read.py ends with %v and says %q, want %q", c.file, c.at, err, errs, c.want)
		}
	}
}
