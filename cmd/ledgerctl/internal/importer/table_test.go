package importer

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ledger/schema"
)

func TestClock(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) int64 {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.UnixNano()
	}
	for _, c := range []struct {
		text string
		form TimeForm
		unit schema.Unit
		date string
		want int64
		say  string
	}{
		{"1723161255342", Auto, schema.Nanosecond, "", 1723161255342e6, ""},
		{"1723161255342", Auto, schema.Millisecond, "", 1723161255342, ""},
		{"1723161255", Auto, schema.Microsecond, "", 1723161255e6, ""},
		{"1723161255.5", Auto, schema.Millisecond, "", 1723161255500, ""},
		{"1723161255342123", Auto, schema.Nanosecond, "", 1723161255342123e3, ""},
		{"1723161255342123456", Auto, schema.Nanosecond, "", 1723161255342123456, ""},
		{"1723161255342123", Auto, schema.Millisecond, "", 0, "finer than the stream's ms"},
		{"1723161255342000", Auto, schema.Millisecond, "", 1723161255342, ""},
		{"1723161255.0005", Seconds, schema.Millisecond, "", 0, "finer"},
		{"1723161255.5000", Seconds, schema.Millisecond, "", 1723161255500, ""},
		{"1e9", Seconds, schema.Millisecond, "", 0, "1e9"},
		{"-1", Seconds, schema.Millisecond, "", 0, "outside 1970"},
		{"9999999999", Seconds, schema.Nanosecond, "", 0, "outside 1970"},
		{"", ISO, schema.Nanosecond, "", 0, "is no time"},
		{"2026-07-01T09:00:00", ISO, schema.Nanosecond, "", at("2026-07-01T07:00:00Z"), ""},
		{"2026-01-01 09:00:00.25", ISO, schema.Nanosecond, "", at("2026-01-01T08:00:00.25Z"), ""},
		{"2026-01-01 09:00:00.250000000000", Auto, schema.Nanosecond, "", at("2026-01-01T08:00:00.25Z"), ""},
		{"2026-01-01 09:00:00.2500000001", ISO, schema.Nanosecond, "", 0, "more digits"},
		{"2026-01-01 09:00:00+01:00", ISO, schema.Nanosecond, "", at("2026-01-01T08:00:00Z"), ""},
		{"2026-03-29 02:30:00", ISO, schema.Nanosecond, "", 0, "put forward"},
		{"09:00:00.5", ISO, schema.Nanosecond, "", 0, "give --date"},
		{"09:00:00.5", ISO, schema.Nanosecond, "2026-07-01", at("2026-07-01T07:00:00.5Z"), ""},
		{"09:00:00.5", Auto, schema.Nanosecond, "2026-07-01", at("2026-07-01T07:00:00.5Z"), ""},
		{"3600.5", Midnight, schema.Nanosecond, "2026-07-01", at("2026-06-30T23:00:00.5Z"), ""},
		{"14400", Midnight, schema.Nanosecond, "2026-03-29", at("2026-03-29T02:00:00Z"), ""}, // the day has 23 hours
		{"3600.0000005", Midnight, schema.Microsecond, "2026-07-01", 0, "finer"},
		{"3600.9999999995", Midnight, schema.Nanosecond, "2026-07-01", at("2026-06-30T23:00:01Z"), ""},
		{"3600.", Midnight, schema.Nanosecond, "2026-07-01", 0, "no number of seconds"},
	} {
		k, err := newClock(c.unit, paris, c.date)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := k.parse(c.text, c.form)
		if c.say == "" && (err != nil || got != c.want) || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%q as %v in %v: %d, %v, want %d %s", c.text, c.form, c.unit, got, err, c.want, c.say)
		}
	}
	if _, err := newClock(schema.Nanosecond, nil, "2026-13-01"); err == nil {
		t.Error("month 13")
	}
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"px=price:2": "px:i64:2 price decimal", "qty=size:i32": "qty:i32 size decimal", "sym=ticker:text": "sym:u32 ticker text",
		"id=trade id:u64:int": "id:u64 trade id integer", "px=p:e4:2": "px:i64:2 p integer × 10^-4", "side=s:side:u16": "side:u16 s",
		"k=a:{x:y=1,z=2}": "k:u8 a {x:y=1,z=2}", "ts=t": "ts t auto", "ts=t:ms": "ts t ms", "venue_ts=v:iso": "venue_ts:i64 v iso",
	} {
		r, f, err := ParseRule(text)
		got := f.Name
		if f.Kind != 0 {
			got = f.String()
		}
		got += " " + r.From + " " + r.As.about
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "px", "=price", "px=p:19", "px=p:x", "px=p:e19", "px=p:e", "px=p:text:int", "k=a:{x}", "k=a:{x=1,x=2}", "k=a:{x=y}"} {
		if r, f, err := ParseRule(text); err == nil {
			t.Errorf("%q is taken: %+v %v", text, r, f)
		}
	}
	p := preset(t, "kraken").WithRules([]Rule{{To: "side"}})
	if slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.To == "side" }) || len(preset(t, "kraken").Rules) != len(p.Rules)+1 {
		t.Error("a rule is not taken away, or from all")
	}
}

// FuzzJSON: no line makes the reader panic, and what it accepts is JSON with the
// same texts.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":1,"b":"x","c":null}`)
	f.Add(`{"a":1e5,"a":2}`)
	f.Add(`{"c":[{"a":1}]} {}`)
	f.Fuzz(func(t *testing.T, line string) {
		r := newJSON(strings.NewReader(line), []string{"a", "b"})
		cells, err := r.next()
		if err != nil {
			var bad *badRow
			if err != io.EOF && !errors.As(err, &bad) && len(line) < lineMax {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		if strings.ContainsAny(line, "\n") {
			return
		}
		var m map[string]any
		d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(line, "\xef\xbb\xbf")))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatalf("%q is accepted, and is no JSON: %v", line, err)
		}
		for i, name := range r.columns() {
			want := ""
			switch v := m[name].(type) {
			case string:
				want = v
			case json.Number:
				want = v.String()
			case bool:
				want = map[bool]string{true: "true", false: "false"}[v]
			}
			if cells[i] != want {
				t.Fatalf("%q: %s is %q, want %q", line, name, cells[i], want)
			}
		}
	})
}

// FuzzClock: what is accepted lies between 1970 and 2200.
func FuzzClock(f *testing.F) {
	f.Add("1723161255342", uint8(Auto))
	f.Add("34200.004241176", uint8(Midnight))
	f.Add("2026-07-01 09:00:00.25", uint8(ISO))
	f.Fuzz(func(t *testing.T, text string, form uint8) {
		k, err := newClock(schema.Nanosecond, time.UTC, "2012-06-21")
		if err != nil {
			t.Fatal(err)
		}
		ts, _, err := k.parse(text, TimeForm(form%uint8(len(formNames))))
		if err == nil && TimeForm(form%uint8(len(formNames))) != ISO && looksNumber(text) && (ts < 0 || ts/1e9 >= secondsEnd) {
			t.Fatalf("%q is %d", text, ts)
		}
	})
}
