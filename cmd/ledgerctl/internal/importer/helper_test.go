package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// load imports texts as files and returns the records of the stream, as text.
func load(t *testing.T, o Options, files ...string) ([]string, Report, error) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "s")
	}
	o.Stream.Durability, o.Stream.Capacity = stream.Os, 64
	for i, text := range files {
		path := filepath.Join(t.TempDir(), string(rune('a'+i))+".csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Paths = append(o.Paths, path)
	}
	r, err := Import(t.Context(), o)
	return dump(t, o.Dir), r, err
}

// dump returns a stream's records: seq ts, then the fields that aren't 0.
func dump(t *testing.T, dir string) (out []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "stream.json")); err != nil {
		return nil
	}
	for _, rec := range records(t, dir) {
		out = append(out, rec.String())
	}
	return out
}

// A record is one of a stream, with what it takes to read it.
type record struct {
	s   *schema.Schema
	d   *dictionary.Dictionary
	rec []byte
}

func records(t *testing.T, dir string) (out []record) {
	t.Helper()
	r, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := dictionary.Load(dir, r.Info().ID)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for seq := snap.First(); seq < snap.End(); seq++ {
		rec, err := snap.Get(nil, seq)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, record{r.Schema(), d, rec})
	}
	return out
}

// get returns a field as people read it, and a symbol as its text.
func (r record) get(field string) string {
	i, ok := r.s.Index(field)
	if !ok {
		return "no field " + field
	}
	v := r.s.Int(r.rec, i)
	if text, ok := r.d.Text(field, uint64(v)); ok {
		return text
	}
	return string(r.s.Field(i).AppendValue(nil, v))
}

func (r record) String() string {
	var b bytes.Buffer
	b.WriteString(schema.FormatDecimal(schema.Time(r.rec), 0))
	for i, f := range r.s.Fields() {
		if r.s.Int(r.rec, i) != 0 {
			b.WriteString(" " + f.Name + "=" + r.get(f.Name))
		}
	}
	return b.String()
}

func preset(t *testing.T, name string) Preset {
	t.Helper()
	p, ok := ByName(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	return p
}

// mapped is the general preset with rules as people write them.
func mapped(t *testing.T, name string, maps ...string) Options {
	t.Helper()
	p := preset(t, name)
	var fields []schema.Field
	for _, m := range maps {
		rule, f, err := ParseRule(m)
		if err != nil {
			t.Fatal(err)
		}
		p = p.WithRules([]Rule{rule})
		if f.Kind != 0 {
			fields = append(fields, f)
		}
	}
	s, err := schema.New(0, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Preset: p, Schema: s}
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
