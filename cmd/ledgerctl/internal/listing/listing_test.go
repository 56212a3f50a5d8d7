package listing_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
)

var columns = []listing.Column{
	{Name: "file", Kind: listing.Text},
	{Name: "count", Kind: listing.Number},
	{Name: "seq", Kind: listing.Exact},
	{Name: "ts", Kind: listing.Time},
	{Name: "ok", Kind: listing.Bool},
}

// write returns two rows, the second with all cells empty, in the format.
func write(t *testing.T, f listing.Format, rows int, o listing.Options) string {
	t.Helper()
	var b strings.Builder
	w := listing.New(&b, f, columns, o)
	var r listing.Row
	for i := range rows {
		r.Reset()
		if i == 1 {
			for range columns {
				r.Empty()
			}
		} else {
			r.Text("a \"name\", with\tall\u00e9")
			r.Int(-7)
			r.Uint(18446744073709551615)
			r.Buf = append(r.Buf, "2026-10-12T09:30:00.123456789Z"...)
			r.End()
			r.Bool(true)
		}
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format listing.Format
		rows   int
		o      listing.Options
		want   string
	}{
		{listing.CSV, 0, listing.Options{}, "file,count,seq,ts,ok\n"},
		{listing.CSV, 2, listing.Options{}, "file,count,seq,ts,ok\n" +
			"\"a \"\"name\"\", with\tallé\",-7,18446744073709551615,2026-10-12T09:30:00.123456789Z,true\n,,,,\n"},
		{listing.JSON, 0, listing.Options{}, "[]\n"},
		{listing.JSON, 2, listing.Options{}, "[\n" +
			`{"file":"a \"name\", with\u0009allé","count":-7,"seq":"18446744073709551615","ts":"2026-10-12T09:30:00.123456789Z","ok":true},` + "\n" +
			`{"file":"","count":null,"seq":null,"ts":null,"ok":null}` + "\n]\n"},
		{listing.JSONL, 0, listing.Options{}, ""},
		{listing.JSONL, 1, listing.Options{},
			`{"file":"a \"name\", with\u0009allé","count":-7,"seq":"18446744073709551615","ts":"2026-10-12T09:30:00.123456789Z","ok":true}` + "\n"},
		{listing.Table, 0, listing.Options{}, "file  count  seq  ts  ok\n"},
		{listing.Table, 2, listing.Options{}, `
file                 count                   seq  ts                              ok
a "name", with�allé     -7  18446744073709551615  2026-10-12T09:30:00.123456789Z  true

`[1:]},
		{listing.Table, 1, listing.Options{Width: 75}, `
file                 count                   seq  ts                   ok
a "name", with�allé     -7  18446744073709551615  2026-10-12T09:30:00  true
                                                  .123456789Z
`[1:]},
		{listing.Table, 1, listing.Options{Width: 68}, `
file          count                   seq  ts                   ok
a "name",        -7  18446744073709551615  2026-10-12T09:30:00  true
with�allé                                  .123456789Z
`[1:]},
		{listing.Table, 1, listing.Options{Width: 60}, `
file          count                   seq  ts           ok
a "name",        -7  18446744073709551615  2026-10-12T  true
with�allé                                  09:30:00
                                           .123456789Z
`[1:]},
		{listing.Table, 2, listing.Options{Width: 59}, `
file   a "name", with�allé
count  -7
seq    18446744073709551615
ts     2026-10-12T09:30:00.123456789Z
ok     true

file
count
seq
ts
ok
`[1:]},
		{listing.Table, 0, listing.Options{Width: 10}, "file  count  seq  ts  ok\n"},
		{listing.Table, 0, listing.Options{Color: true}, "\x1b[1mfile  \x1b[0m\x1b[1mcount  \x1b[0m\x1b[1mseq  \x1b[0m\x1b[1mts  \x1b[0m\x1b[1mok  \x1b[0m\n"},
	} {
		if got := write(t, c.format, c.rows, c.o); got != c.want {
			t.Errorf("%v of %d rows, %+v:\n%s\nwant\n%s", c.format, c.rows, c.o, got, c.want)
		}
	}
}

// TestPages: a long table comes out in pages that go on where the last one ended.
func TestPages(t *testing.T) {
	var b strings.Builder
	w := listing.New(&b, listing.Table, columns[1:3], listing.Options{})
	var r listing.Row
	for i := range 2500 {
		r.Reset()
		r.Int(int64(i))
		r.Int(int64(i))
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
		if i == 1500 && !strings.Contains(b.String(), " 999\n") {
			t.Fatal("nothing has come out after 1500 rows")
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2501 || lines[0] != "count  seq" || lines[1000] != "  999  999" || lines[2500] != " 2499  2499" {
		t.Errorf("%d lines: %q … %q … %q", len(lines), lines[0], lines[1000], lines[2500])
	}
}

// TestFlush: what was written so far is whole lines, and the end is a whole listing.
func TestFlush(t *testing.T) {
	for format, want := range map[listing.Format][3]string{
		listing.CSV:   {"n\n", "n\n0\n", "n\n0\n1\n2\n"},
		listing.JSONL: {"", "{\"n\":0}\n", "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n"},
		listing.JSON:  {"", "[\n{\"n\":0}\n", "[\n{\"n\":0}\n,{\"n\":1},\n{\"n\":2}\n]\n"},
		listing.Table: {"", "n\n0\n", "n\n0\n1\n2\n"},
	} {
		var b strings.Builder
		w := listing.New(&b, format, []listing.Column{{Name: "n", Kind: listing.Number}}, listing.Options{})
		var r listing.Row
		write := func(v int64) {
			r.Reset()
			r.Int(v)
			if err := w.Write(&r); err != nil {
				t.Fatal(err)
			}
		}
		flush := func(want string) {
			if err := w.Flush(); err != nil || b.String() != want {
				t.Errorf("%v: %q after a flush, %v, want %q", format, b.String(), err, want)
			}
		}
		flush(want[0])
		write(0)
		flush(want[1])
		flush(want[1])
		write(1)
		write(2)
		if err := w.Close(); err != nil || b.String() != want[2] {
			t.Errorf("%v: %q at the end, %v, want %q", format, b.String(), err, want[2])
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, name := range listing.FormatNames() {
		f, err := listing.ParseFormat(name)
		if err != nil || f.String() != name || f.Choose(true) != f || f.Choose(false) != f {
			t.Errorf("ParseFormat(%q) = %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"", "xml", "Table"} {
		if f, err := listing.ParseFormat(name); err == nil {
			t.Errorf("ParseFormat(%q) = %v", name, f)
		}
	}
	if listing.Auto.Choose(true) != listing.Table || listing.Auto.Choose(false) != listing.CSV {
		t.Error("Auto is not a table on a terminal and CSV elsewhere")
	}
}

// TestWrapText: text is wrapped between words, and nothing of it is lost.
func TestWrapText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"the quick brown fox", "text\nthe quick\nbrown fox\n"},
		{"a word-that-is-long stands", "text\na\nword-that-is\n-long stands\n"},
		{"wordsthatarelong", "text\nwordsthatare\nlong\n"},
		{"one two", "text\none two\n"},
	} {
		var b strings.Builder
		w := listing.New(&b, listing.Table, []listing.Column{{Name: "text"}}, listing.Options{Width: 12})
		var r listing.Row
		r.Text(c.text)
		if err := errors.Join(w.Write(&r), w.Close()); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%q is\n%s, want\n%s", c.text, b.String(), c.want)
		}
	}
}

// FuzzText: any text comes back from CSV and JSON as it was.
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add(" \"quoted\", \\ \x00\x7f\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		column := []listing.Column{{Name: s, Kind: listing.Text}, {Name: "x"}}
		out := map[listing.Format]string{}
		for _, format := range []listing.Format{listing.CSV, listing.JSON, listing.Table} {
			var b strings.Builder
			w := listing.New(&b, format, column, listing.Options{Width: 20})
			var r listing.Row
			r.Text(s)
			r.Text("y")
			if err := w.Write(&r); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			out[format] = b.String()
		}
		rows, err := csv.NewReader(strings.NewReader(out[listing.CSV])).ReadAll()
		want := strings.ReplaceAll(s, "\r\n", "\n") // the standard reader does that
		if err != nil || !slices.EqualFunc(rows, [][]string{{want, "x"}, {want, "y"}}, slices.Equal) {
			t.Fatalf("%q as CSV is %q, read %q, %v", s, out[listing.CSV], rows, err)
		}
		var objects []map[string]string
		err = json.Unmarshal([]byte(out[listing.JSON]), &objects)
		want = strings.ToValidUTF8(s, "\ufffd")
		if s == "x" || strings.Count(want, "\ufffd") != strings.Count(s, "\ufffd") {
			return // two columns of a name; or runs of bad bytes, which ToValidUTF8 joins
		}
		if err != nil || len(objects) != 1 || objects[0][want] != want {
			t.Fatalf("%q as JSON is %s, read %q, %v", s, out[listing.JSON], objects, err)
		}
	})
}

func ExampleWriter() {
	var b strings.Builder
	w := listing.New(&b, listing.Table, []listing.Column{{Name: "sym"}, {Name: "trades", Kind: listing.Number}}, listing.Options{})
	var r listing.Row
	for i, sym := range []string{"AAPL", "BTCUSDT"} {
		r.Reset()
		r.Text(sym)
		r.Int(int64(i*91_998 + 7))
		w.Write(&r)
	}
	w.Close()
	fmt.Print(b.String())
	// Output:
	// sym      trades
	// AAPL          7
	// BTCUSDT   92005
}
