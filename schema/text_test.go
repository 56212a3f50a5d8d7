package schema

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCanonicalV1 pins the canonical bytes, and with them every tag. If it fails,
// all streams in the field refuse their own files.
func TestCanonicalV1(t *testing.T) {
	id := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	empty, err := New(Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    *Schema
		want []string
		id   [16]byte
		tag  uint32
	}{
		{fill(t), []string{
			"01",                                     // ns
			"07",                                     // fields
			"707800000000000000000000" + "05" + "02", // px i32, scale 2
			"717479000000000000000000" + "05" + "00", // qty i32
			"74616b657200000000000000" + "06" + "00", // taker u32
			"6d616b657200000000000000" + "06" + "00", // maker u32
			"73796d000000000000000000" + "04" + "00", // sym u16
			"736964650000000000000000" + "02" + "00", // side u8
			"666c61677300000000000000" + "02" + "00", // flags u8
		}, id, 0xcd7e53cb},
		{empty, []string{"03", "00"}, [16]byte{}, 0x4c369c8e},
	} {
		before := []byte("before")
		got := c.s.AppendCanonical(before)
		if want := "before" + unhex(t, strings.Join(c.want, "")); string(got) != want {
			t.Errorf("%v:\n got %x\nwant %x", c.s, got, want)
		}
		if got := c.s.Tag(c.id); got != c.tag {
			t.Errorf("%v: tag %#x, want %#x", c.s, got, c.tag)
		}
	}
}

func unhex(t *testing.T, s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParseField(t *testing.T) {
	for text, want := range map[string]Field{
		"px:i32:2":         {"px", I32, 2},
		"px:i32":           {"px", I32, 0},
		"px:i32:0":         {"px", I32, 0},
		"twelve_bytes:u64": {"twelve_bytes", U64, 0},
		"0:u8:18":          {"0", U8, 18},
	} {
		got, err := ParseField(text)
		if err != nil || got != want {
			t.Errorf("ParseField(%q) = %v, %v, want %v", text, got, err, want)
		}
		if again := strings.TrimSuffix(text, ":0"); got.String() != again {
			t.Errorf("ParseField(%q) prints as %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                           "no name",
		"px":                         `kind ""`,
		"px:":                        `kind ""`,
		":i32":                       "no name",
		"px:i32:":                    `scale ""`,
		"px:i32:19":                  `scale "19"`,
		"px:i32:256":                 `scale "256"`,
		"px:i32:-1":                  `scale "-1"`,
		"px:i32:+1":                  `scale "+1"`,
		"px:i32:02":                  `scale "02"`,
		"px:i32:2:":                  `scale "2:"`,
		"px:i32:2 ":                  `scale "2 "`,
		" px:i32":                    "a name is made of",
		"PX:i32":                     "a name is made of",
		"thirteen_byte:i32":          "at most 12 bytes",
		"seq:u64":                    "every record has one",
		"ts:i64":                     "every record has one",
		"px i32":                     "a name is made of",
		"px:int32":                   `kind "int32"`,
		"px:I32":                     `kind "I32"`,
		strings.Repeat("p:i32", 1e5): `…`,
	} {
		f, err := ParseField(text)
		if f != (Field{}) || !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("ParseField(%.30q) = %v, %v, want ErrSchema with %q", text, f, err, want)
		}
	}
	_, err := ParseField("PX:x:y")
	for _, want := range []string{`"PX:x:y": a name is made of`, `kind "x"`, `scale "y"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want all problems: %q is missing", err, want)
		}
	}
}

// FuzzParseField: what is accepted is a valid field, and prints as what is
// parsed to the same again.
func FuzzParseField(f *testing.F) {
	for _, s := range []string{"px:i32:2", "qty:u64", "px:i32:00", "a:b:c:d", "seq:u64", ":::", "é:i8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseField(s)
		if err != nil {
			if !errors.Is(err, ErrSchema) || got != (Field{}) {
				t.Fatalf("ParseField(%q) = %v, %v", s, got, err)
			}
			return
		}
		if _, err := New(0, got); err != nil {
			t.Fatalf("ParseField(%q) = %v, which New refuses: %v", s, got, err)
		}
		if again, err := ParseField(got.String()); again != got || err != nil {
			t.Fatalf("ParseField(%q) = %v, then %v, %v", s, got, again, err)
		}
	})
}

func TestString(t *testing.T) {
	if got, want := fill(t).String(), "ns px:i32:2 qty:i32 taker:u32 maker:u32 sym:u16 side:u8 flags:u8"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	s, err := New(Microsecond, Field{"px", I32, 2}, Field{"qty", U64, 0})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if want := `{"unit":"us","fields":[{"name":"px","kind":"i32","scale":2},{"name":"qty","kind":"u64"}]}`; string(b) != want || err != nil {
		t.Errorf("Marshal = %s, %v, want %s", b, err, want)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 500 {
		s := random(t, rng)
		b, err := json.Marshal(map[string]*Schema{"schema": s})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]*Schema
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if o := got["schema"]; !o.Equal(s) || o.Width() != s.Width() || o.Padded() != s.Padded() {
			t.Fatalf("%s is read as %v", b, o)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                  "unexpected EOF",
		`null`:                               "no fields",
		`{}`:                                 "no fields",
		`{"unit":"ns"}`:                      "no fields",
		`{"unit":"ns","fields":null}`:        "no fields",
		`[]`:                                 "array",
		`{"fields":[]}`:                      `unit ""`,
		`{"unit":"s","fields":[]}`:           `unit "s"`,
		`{"unit":1,"fields":[]}`:             "number",
		`{"unit":"ns","fields":[]} {}`:       "more than one",
		`{"unit":"ns","fields":[],"more":1}`: "unknown field",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","scal":2}]}`:                                      "unknown field",
		`{"unit":"ns","fields":[null]}`:                                                                   `kind ""`,
		`{"unit":"ns","fields":[{"name":"a","kind":5}]}`:                                                  "number",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","scale":300}]}`:                                   "300",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","scale":-1}]}`:                                    "-1",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","scale":1.5}]}`:                                   "1.5",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","scale":19}]}`:                                    "scale 19",
		`{"unit":"ns","fields":[{"name":"A","kind":"i8"}]}`:                                               "a name is made of",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8"},{"name":"a","kind":"i8"}]}`:                      "the name of field 0",
		`{"unit":"ns","fields":[` + strings.Repeat(`{"name":"a","kind":"i8"},`, 16) + `{"name":"b"}]}`:    `kind ""`,
		`{"unit":"ns","fields":[` + strings.Repeat(`{"name":"a","kind":"i8"},`, 16) + `{"kind":"u8"}]}`:   "17 fields",
		`{"unit":"hour","fields":[{"name":"a","kind":"x"}]}`:                                              `kind "x"`,
		`{"unit":"ns","fields":[{"name":"` + strings.Repeat("a", 1e6) + `","kind":"i8"}]}`:                "at most 12 bytes",
		`{"unit":"ns","fields":[{"name":"a","kind":"` + strings.Repeat("a", 1e6) + `"}]}`:                 "kind",
		`{"unit":"ns","fields":[{"name":"a","kind":"i8","` + strings.Repeat("a", 1e3) + `":"` + `"}]}   `: "unknown field",
	} {
		s := fill(t)
		err := s.UnmarshalJSON([]byte(text))
		if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 {
			t.Errorf("%.80s: %.200v, want ErrSchema with %q", text, err, want)
		}
		if !s.Equal(fill(t)) {
			t.Errorf("%.80s was refused, but the schema is now %v", text, s)
		}
	}
}

// FuzzUnmarshalJSON: what is accepted is a schema that New makes too, and is
// written as what is read the same again.
func FuzzUnmarshalJSON(f *testing.F) {
	for _, s := range []string{
		`{"unit":"ns","fields":[{"name":"px","kind":"i32","scale":2},{"name":"qty","kind":"u64"}]}`,
		`{"unit":"ms","fields":[]}`, `null`, `{"unit":"ns","fields":[{"name":"a","kind":"i9"}]}`, ` {"UNIT":"us","fields":[]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Schema
		if err := s.UnmarshalJSON(b); err != nil {
			if !errors.Is(err, ErrSchema) || s.Width() != 0 {
				t.Fatalf("%q: %v, %v", b, &s, err)
			}
			return
		}
		made, err := New(s.Unit(), s.Fields()...)
		if err != nil || !made.Equal(&s) || made.Width() != s.Width() {
			t.Fatalf("%q is %v, New makes %v, %v", b, &s, made, err)
		}
		again, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		var o Schema
		if err := o.UnmarshalJSON(again); err != nil || !o.Equal(&s) {
			t.Fatalf("%q is written as %q, read as %v, %v", b, again, &o, err)
		}
	})
}
