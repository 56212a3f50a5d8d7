package feed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"example.com/ledger/cmd/ledgerctl/internal/feed"
	"example.com/ledger/schema"
)

func testSchema(t testing.TB) *schema.Schema {
	s, err := schema.New(schema.Millisecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "qty", Kind: schema.U64},
		schema.Field{Name: "side", Kind: schema.U8})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read returns the records of the input as "ts px qty side", and its error.
func read(s *schema.Schema, r io.Reader, o feed.Options) (recs []string, err error) {
	src, err := feed.New(r, s, o)
	for err == nil {
		rec := make([]byte, s.Width())
		if err = src.Next(rec); err == nil {
			recs = append(recs, fmt.Sprint(schema.Time(rec), s.Int(rec, 0), s.Uint(rec, 1), s.Int(rec, 2)))
		}
	}
	if err == io.EOF {
		err = nil
	}
	return recs, err
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		o    feed.Options
		want []string
	}{
		"nothing":       {"", feed.Options{}, nil},
		"blank lines":   {"\n \r\n\n", feed.Options{}, nil},
		"a header only": {"ts,px,qty,side\n", feed.Options{}, nil},
		"any order":     {"side,qty,ts,px\n1,2,3,4.5\n", feed.Options{}, []string{"3 450 2 1"}},
		"no last line end": {
			"ts,px,qty,side\n1,2,3,4\n5,-6.07,7,8", feed.Options{}, []string{"1 200 3 4", "5 -607 7 8"}},
		"line ends and blanks": {
			"\xef\xbb\xbf\r\nts, px ,qty,side\r\n\r\n 1,\t2 ,3,4\r\n", feed.Options{}, []string{"1 200 3 4"}},
		"quotes": {"\"ts\",\"px\",qty,side\n\"1\", \"2\" ,3,\"4\"\n", feed.Options{}, []string{"1 200 3 4"}},
		"seq is read over": {
			"seq,ts,px,qty,side\n9,1,2,3,4\nx,1,2,3,4\n", feed.Options{}, []string{"1 200 3 4", "1 200 3 4"}},
		"times": {
			"ts,px,qty,side\n1970-01-01T00:00:01.5Z,2,3,4\n7s,2,3,4\n", feed.Options{}, []string{"1500 200 3 4", "7000 200 3 4"}},
		"defaults by column": {"ts\n1\n", feed.Options{Defaults: true}, []string{"1 0 0 0"}},
		"defaults by cell":   {"ts,px,qty,side\n1,,3,\n2,,,\n", feed.Options{Defaults: true}, []string{"1 0 3 0", "2 0 0 0"}},
		"raw values":         {"ts,px,qty,side\n-1,250,3,4\n", feed.Options{RawValues: true}, []string{"-1 250 3 4"}},
		"limits": {
			"ts,px,qty,side\n1,-21474836.48,18446744073709551615,255\n", feed.Options{},
			[]string{"1 -2147483648 18446744073709551615 255"}},
		"JSON": {
			`{"ts":1,"px":2.5,"qty":"3","side":4}` + "\n\n" + ` { "side" : 4 , "seq":"7", "qty":3,"\u0070x":"2","ts":"1970-01-01T00:00:00.001Z"} ` + "\n",
			feed.Options{}, []string{"1 250 3 4", "1 200 3 4"}},
		"JSON defaults": {`{"ts":1,"px":null,"qty":""}`, feed.Options{Defaults: true}, []string{"1 0 0 0"}},
		"record bytes": {
			"\x09\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xfa\x00\x00\x00\xff\xff\xff\xff" +
				"\x03\x00\x00\x00\x00\x00\x00\x00\x04\xff\xff\xff\xff\xff\xff\xff",
			feed.Options{Raw: true}, []string{"1 250 3 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := read(testSchema(t), r, c.o)
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("got %q, %v, want %q", got, err, c.want)
				}
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	const head = "ts,px,qty,side\n1,2,3,4\n"
	for name, c := range map[string]struct {
		in   string
		o    feed.Options
		line int
		say  string
		good int // records before it
	}{
		"no ts column":      {"px,qty,side\n", feed.Options{Defaults: true}, 1, "no ts", 0},
		"a column too few":  {"\n\nts,px,side\n", feed.Options{}, 3, "no value for qty; with --defaults", 0},
		"unknown column":    {"ts,px,qty,side,fee\n", feed.Options{}, 1, `no column "fee" in this stream; it has ts, px, qty, side`, 0},
		"column twice":      {"ts,px,qty,side,px\n", feed.Options{}, 1, "px stands twice", 0},
		"time twice":        {"ts,ts,px,qty,side\n", feed.Options{}, 1, "ts stands twice", 0},
		"no header":         {"1,2,3,4\n", feed.Options{}, 1, "the first line must name the columns", 0},
		"cells missing":     {head + "1,2,3\n", feed.Options{}, 3, "3 cells, the header has 4", 1},
		"empty cell":        {head + "1,2,,4\n", feed.Options{}, 3, "no value for qty", 1},
		"empty ts":          {head + ",2,3,4\n", feed.Options{Defaults: true}, 3, "no ts", 1},
		"a digit too many":  {head + "\n1,2.500,3,4\n", feed.Options{}, 4, "px: 2.500 has more than 2 decimals", 1},
		"out of range":      {head + "1,2,3,256\n", feed.Options{}, 3, "side: 256 does not fit u8 (0 to 255)", 1},
		"a word":            {head + "1,2,three,4\n", feed.Options{}, 3, "qty", 1},
		"bad time":          {head + "1700000000000000,2,3,4\n", feed.Options{}, 3, "if it is in us, write 1700000000000000us", 1},
		"finer time":        {head + "1us,2,3,4\n", feed.Options{}, 3, "the stream counts ms", 1},
		"raw time":          {head + "1ms,2,3,4\n", feed.Options{RawValues: true}, 2 + 1, "--raw-values", 1},
		"raw decimal":       {head + "1,2.5,3,4\n", feed.Options{RawValues: true}, 3, "px: 2.5", 1},
		"quote not closed":  {head + "1,\"2,3,4\n", feed.Options{}, 3, "not closed", 1},
		"quote in a cell":   {head + "1,2\",3,4\n", feed.Options{}, 3, "a quote inside", 1},
		"text behind quote": {head + "1,\"2\"5,3,4\n", feed.Options{}, 3, "behind a closing quote", 1},
		"line too long":     {head + strings.Repeat("1", 300<<10), feed.Options{}, 3, "longer than", 1},
		"JSON array":        {"[{\"ts\":1}]", feed.Options{}, 1, "jsonl", 0},
		"JSON nested":       {`{"ts":1,"px":{"a":1}}`, feed.Options{}, 1, "neither a number nor a string", 0},
		"JSON true":         {`{"ts":1,"px":true}`, feed.Options{}, 1, "neither a number nor a string", 0},
		"JSON exponent":     {`{"ts":1,"px":1e2}`, feed.Options{}, 1, "px", 0},
		"JSON name twice":   {`{"ts":1,"ts":1}`, feed.Options{}, 1, "ts stands twice", 0},
		"JSON unknown":      {`{"ts":1,"fee":1}`, feed.Options{}, 1, `no column "fee"`, 0},
		"JSON missing":      {`{"ts":1,"px":1}`, feed.Options{}, 1, "no value for qty, side", 0},
		"JSON two a line":   {`{"ts":1,"px":1,"qty":1,"side":1}{}`, feed.Options{}, 1, "write one a line", 0},
		"JSON then CSV":     {`{"ts":1,"px":1,"qty":1,"side":1}` + "\n1,2,3,4", feed.Options{}, 2, "not a JSON object", 1},
		"JSON cut":          {`{"ts":1,"px":"1`, feed.Options{}, 1, "not closed", 0},
		"half a record":     {strings.Repeat("\x00", 40+7), feed.Options{Raw: true}, 2, "7 bytes are left, a record has 40", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(testSchema(t), strings.NewReader(c.in), c.o)
			var bad *feed.LineError
			if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(err.Error(), c.say) || len(got) != c.good {
				t.Errorf("got %q, %v, want %d records and line %d: …%s", got, err, c.good, c.line, c.say)
			}
		})
	}
}

// TestReadError: what the reader says comes through, and what stood before it is kept.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("ts,px,qty,side\n1,2,3,4\n5,"), iotest.ErrReader(broken))
	got, err := read(testSchema(t), r, feed.Options{})
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("got %q, %v, want one record and the reader's error", got, err)
	}
}

// TestFeedDoesNotWait: a record is handed on while the next is still being written.
func TestFeedDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	f := feed.Open(t.Context(), r, testSchema(t), feed.Options{}, 100)
	for _, text := range []string{"ts,px,qty,side\n1,2,3,4\n5,6", ",7,8\n9,", "1,2,3\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		c := <-f.C
		if len(c.Lines) != 1 || len(c.Rows) != testSchema(t).Width() || c.Err != nil {
			t.Fatalf("after %q: lines %d, error %v, want one", text, c.Lines, c.Err)
		}
		f.Free(c)
	}
	w.Close()
	if c := <-f.C; len(c.Lines) != 0 || c.Err != io.EOF {
		t.Fatalf("at the end: lines %d, error %v", c.Lines, c.Err)
	}
}

func TestFeedChunks(t *testing.T) {
	in := "ts,px,qty,side\n" + strings.Repeat("1,2,3,4\n", 250) + "x\n"
	f := feed.Open(t.Context(), strings.NewReader(in), testSchema(t), feed.Options{}, 100)
	var sizes []int
	for {
		c := <-f.C
		sizes = append(sizes, len(c.Lines))
		if len(c.Lines) > 0 && c.Lines[len(c.Lines)-1] != 1+sum(sizes) {
			t.Fatalf("the last of %v records stands on line %d", sizes, c.Lines[len(c.Lines)-1])
		}
		f.Free(c)
		if c.Err != nil {
			break
		}
	}
	if !slices.Equal(sizes, []int{100, 100, 50}) {
		t.Errorf("chunks of %v records", sizes)
	}
}

func sum(n []int) (all int) {
	for _, v := range n {
		all += v
	}
	return all
}

// TestFeedEnds: a cancelled feed does not stay behind with a chunk that nobody
// takes. The bubble ends only when its goroutines have.
func TestFeedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		feed.Open(ctx, strings.NewReader("ts,px,qty,side\n1,2,3,4\n"), testSchema(t), feed.Options{}, 1)
		synctest.Wait()
		cancel()
	})
}

// texts are numbers of the field side, and refuse records of the time 9.
type texts map[string]uint64

func (x texts) Has(field string) bool { return field == "side" }

func (x texts) Number(_, text string) (uint64, bool, error) {
	if text == "broken" {
		return 0, false, errors.New("broken")
	}
	n, ok := x[text]
	return n, ok, nil
}

func (x texts) Check(rec []byte) error {
	if schema.Time(rec) == 9 {
		return errors.New("refused")
	}
	return nil
}

func TestTexts(t *testing.T) {
	x := texts{"buy": 1, "7": 2, "far": 256}
	for in, want := range map[string]string{
		"1,2,3,buy":    "1 200 3 1",
		"1,2,3,7":      "1 200 3 2", // a text first
		"1,2,3,8":      "1 200 3 8",
		"1,2,3,sell":   `line 2: side: the stream's dictionary has no "sell"; with --learn side new texts get numbers`,
		"1,2,3,broken": "line 2: side: broken",
		"1,2,x,buy":    `line 2: not a decimal number: "x", for qty; with --learn qty such texts get numbers`,
		"1,x,3,buy":    `line 2: not a decimal number: "x", for px`,
		"9,2,3,buy":    "line 2: refused",
	} {
		got, err := read(testSchema(t), strings.NewReader("ts,px,qty,side\n"+in+"\n"), feed.Options{Texts: x})
		if err != nil {
			got = []string{err.Error()}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if _, err := read(testSchema(t), strings.NewReader("ts,px,qty,side\n1,2,3,far\n"), feed.Options{Texts: x}); !errors.Is(err, schema.ErrRange) {
		t.Errorf("a number that doesn't fit: %v", err)
	}
	got, err := read(testSchema(t), strings.NewReader("ts,px,qty,side\n9,2,3,7\n"), feed.Options{Texts: x, RawValues: true})
	if err != nil || len(got) != 1 || got[0] != "9 2 3 7" {
		t.Errorf("raw values: %q, %v", got, err)
	}
}
