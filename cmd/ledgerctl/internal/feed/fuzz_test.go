package feed_test

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
)

// FuzzCSV: no input makes the reader panic; what it accepts the standard reader
// accepts, with the same number of records.
func FuzzCSV(f *testing.F) {
	f.Add("ts,px,qty,side\n1,2.5,3,4\n", false)
	f.Add("side,ts\r\n\"4\", 1970-01-01T00:00:00Z\r\n", true)
	f.Add("\xef\xbb\xbf\n\"t\"\"s\",px\n1,2", true)
	s := testSchema(f)
	f.Fuzz(func(t *testing.T, in string, defaults bool) {
		if trimmed := strings.TrimLeft(in, "\xef\xbb\xbf \t\r\n"); strings.HasPrefix(trimmed, "{") {
			return // JSON
		}
		recs, err := read(s, strings.NewReader(in), feed.Options{Defaults: defaults})
		if err != nil || strings.ContainsAny(in, " \t\r") {
			return
		}
		std := csv.NewReader(strings.NewReader(strings.TrimPrefix(in, "\xef\xbb\xbf")))
		all, err := std.ReadAll()
		if err != nil || max(len(all)-1, 0) != len(recs) {
			t.Fatalf("%q: %d records, the standard reader has %d, %v", in, len(recs), len(all)-1, err)
		}
	})
}

// FuzzJSON: no input makes the reader panic; each line that it accepts is JSON,
// and a number or string in it is read as the standard library reads it.
func FuzzJSON(f *testing.F) {
	f.Add(`{"ts":1,"px":2.5,"qty":"3","side":4}`)
	f.Add(`{ "\u0074s" : "1970-01-01T00:00:00Z" , "px":null }`)
	f.Add("{\"ts\":1}\n{\"ts\":-0ms}")
	s := testSchema(f)
	f.Fuzz(func(t *testing.T, in string) {
		if !strings.HasPrefix(in, "{") {
			return
		}
		recs, err := read(s, strings.NewReader(in), feed.Options{Defaults: true})
		if err != nil {
			return
		}
		dec, n := json.NewDecoder(strings.NewReader(in)), 0
		dec.UseNumber()
		var again strings.Builder
		for {
			var m map[string]any
			d := dec.Decode(&m)
			if d == io.EOF {
				break
			}
			if d != nil {
				t.Fatalf("%q is accepted, but no JSON: %v", in, d)
			}
			n++
			line, _ := json.Marshal(m)
			again.Write(append(line, '\n'))
		}
		if n != len(recs) {
			t.Fatalf("%q: %d records, %d objects", in, len(recs), n)
		}
		if strings.Contains(in, "null") || strings.Contains(in, `""`) {
			return // a name may stand twice if it is empty once
		}
		more, err := read(s, strings.NewReader(again.String()), feed.Options{Defaults: true})
		if err != nil || !slices.Equal(more, recs) {
			t.Fatalf("%q: %q, written again %q, %v", in, recs, more, err)
		}
	})
}

// FuzzRaw: whole records come through, and half a one is an error.
func FuzzRaw(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(2))
	s := testSchema(f)
	f.Fuzz(func(t *testing.T, tail []byte, n uint8) {
		in := strings.Repeat(strings.Repeat("\x01", s.Width()), int(n)) + string(tail)
		recs, err := read(s, strings.NewReader(in), feed.Options{Raw: true})
		if len(recs) != len(in)/s.Width() || (err == nil) != (len(in)%s.Width() == 0) {
			t.Fatalf("%d bytes: %d records, %v", len(in), len(recs), err)
		}
	})
}

// FuzzSplitCSV: no line makes the reader panic; a line without quotes and blanks is cut
// as the standard library cuts it.
func FuzzSplitCSV(f *testing.F) {
	f.Add(`1,"a ""b""",,x`)
	f.Add(`"not closed`)
	f.Fuzz(func(t *testing.T, line string) {
		cells, err := feed.SplitCSV(nil, line, ",")
		if err != nil || strings.ContainsAny(line, " \t\r\n\v\f\u0085\u00a0") || line == "" {
			return
		}
		std, serr := csv.NewReader(strings.NewReader(line)).Read()
		if serr == nil && strings.IndexFunc(line, func(r rune) bool { return r > 126 }) < 0 && !slices.Equal(cells, std) {
			t.Fatalf("%q: %q, the standard reader has %q", line, cells, std)
		}
	})
}
