package meta

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// Not for a format that streams in the field have: those stop opening.
var update = flag.Bool("update", false, "write the golden files anew")

// golden returns testdata/name, after it was written anew if that is asked for.
func golden(t testing.TB, name string, b []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func sampleStream(t testing.TB) Stream {
	t.Helper()
	s, err := schema.New(schema.Microsecond, schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "qty", Kind: schema.U64})
	if err != nil {
		t.Fatal(err)
	}
	before := int64(-1700000000000000)
	return Stream{Version: 1, ID: "000102030405060708090a0b0c0d0e0f", Schema: s, Capacity: 65536, Durability: "commit", Layout: "columns",
		SyncEvery: 50 * time.Millisecond, Retention: retention.Policy{BeforeTime: &before, KeepRecords: 1 << 60, MaxAge: 90 * 24 * time.Hour},
		CreatedAt: time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)}
}

func sampleDrops() Drops {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return Drops{Version: 1, ID: "000102030405060708090a0b0c0d0e0f", Ranges: []Drop{
		{0, 65536, ReasonRetention + ": max-age", at},
		{65536, 65540, ReasonLoss, at.Add(time.Second)},
		{1<<63 + 1, 1<<64 - 1, `repair "by hand", "crc": "00000000"`, at.Add(time.Hour)},
	}}
}

func sampleConsumer() Consumer {
	return Consumer{Version: 1, ID: "000102030405060708090a0b0c0d0e0f", Name: "risk-1", Position: 1<<64 - 1, Hold: 1 << 63,
		At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}

var sampleCursors = Cursors{Generation: 7, ID: [16]byte{0: 0xa0, 1: 0xa1, 15: 0xaf}, Durable: 65540}

func encodeStream(t testing.TB, s Stream) []byte {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func encodeConsumer(t testing.TB, c Consumer) []byte {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func encodeDrops(t testing.TB, d Drops) []byte {
	t.Helper()
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// page is a cursors page with all its bytes in use.
func page() []byte {
	b := make([]byte, CursorSize)
	sampleCursors.Put(b)
	b[PublishedAt], b[PublishedAt+7] = 0x42, 0x80
	return b
}

// TestFiles pins the text of version 1 of the files that are objects. If it
// fails, streams in the field stop opening: add version 2 instead of running
// -update.
func TestFiles(t *testing.T) {
	for name, b := range map[string][]byte{
		"stream.json":   encodeStream(t, sampleStream(t)),
		"drops.json":    encodeDrops(t, sampleDrops()),
		"none.json":     encodeDrops(t, Drops{ID: sampleDrops().ID}),
		"consumer.json": encodeConsumer(t, sampleConsumer()),
	} {
		if want := golden(t, name, b); !bytes.Equal(b, want) {
			t.Errorf("%s is\n%swant\n%s", name, b, want)
		}
	}
	b := golden(t, "stream.json", encodeStream(t, sampleStream(t)))
	got, err := DecodeStream("stream.json", b)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleStream(t)
	if !got.Schema.Equal(want.Schema) || !got.Retention.Equal(want.Retention) || !got.CreatedAt.Equal(want.CreatedAt) {
		t.Errorf("stream.json decodes to %+v, want %+v", got, want)
	}
	if again := encodeStream(t, got); !bytes.Equal(again, b) {
		t.Errorf("stream.json, decoded and encoded, is\n%s", again)
	}
	b = golden(t, "drops.json", encodeDrops(t, sampleDrops()))
	d, err := DecodeDrops("drops.json", b)
	if err != nil || fmt.Sprint(d) != fmt.Sprint(sampleDrops()) {
		t.Errorf("drops.json decodes to %v, %v, want %v", d, err, sampleDrops())
	}
	b = golden(t, "consumer.json", encodeConsumer(t, sampleConsumer()))
	if c, err := DecodeConsumer("consumer.json", b); err != nil || c != sampleConsumer() {
		t.Errorf("consumer.json decodes to %v, %v, want %v", c, err, sampleConsumer())
	}
}

// TestPage pins the bytes of version 1 of the cursors page.
func TestPage(t *testing.T) {
	b := page()
	var text strings.Builder
	at := 0
	for _, p := range []struct {
		n       int
		meaning string
	}{
		{4, "magic OXLC"}, {2, "version 1"}, {2, "zeros"}, {8, "generation 7"}, {16, "stream id"}, {8, "durable 65540"},
		{4, "CRC-32C of 0-39"}, {20, "zeros"}, {8, "published, outside the checksum"},
	} {
		fmt.Fprintf(&text, "%03d-%03d  %-40s  %s\n", at, at+p.n, hex.EncodeToString(b[at:at+p.n]), p.meaning)
		at += p.n
	}
	if rest := bytes.Trim(b[at:], "\x00"); len(rest) > 0 {
		t.Errorf("behind the last field stands %x", rest)
	}
	if want := golden(t, "cursors.golden", []byte(text.String())); text.String() != string(want) {
		t.Errorf("the page is\n%swant\n%s", text.String(), want)
	}
	if c, ok, err := DecodeCursors(b); c != sampleCursors || !ok || err != nil {
		t.Errorf("DecodeCursors = %+v, %v, %v, want %+v", c, ok, err, sampleCursors)
	}
	if n := Published(b); n != 0x8000000000000042 {
		t.Errorf("Published = %#x", n)
	}
	before := bytes.Clone(b)
	sampleCursors.Put(b)
	if !bytes.Equal(b, before) {
		t.Error("Put changed what isn't its own")
	}
}
