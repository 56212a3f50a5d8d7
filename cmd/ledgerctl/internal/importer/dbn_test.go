package importer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/stream"
)

var le = binary.LittleEndian

// dbnHead is a file's head with two symbols for instrument 7, one a day, and one for 8.
func dbnHead(version byte, tsOut bool) []byte {
	width := dbnSymbolV1
	fixed := make([]byte, dbnFixed)
	copy(fixed, "XNAS.ITCH")
	at := 42
	if version == 1 {
		at = 50
	}
	fixed[at], fixed[at+1] = 1, 0
	if tsOut {
		fixed[at+2] = 1
	}
	if version > 1 {
		width = 71
		le.PutUint16(fixed[at+3:], uint16(width))
	}
	text := func(s string) []byte { return append([]byte(s), make([]byte, width-len(s))...) }
	u32 := func(v uint32) []byte { return le.AppendUint32(nil, v) }
	meta := slices.Concat(fixed, u32(0), u32(1), text("MSFT"), u32(0), u32(0), u32(3),
		text("MSFT"), u32(1), u32(20240101), u32(20240102), text("7"),
		text("AAPL"), u32(1), u32(20240102), u32(20240103), text("7"),
		text("GOOG"), u32(1), u32(20240101), u32(20240103), text("8"))
	return slices.Concat([]byte{'D', 'B', 'N', version}, u32(uint32(len(meta))), meta)
}

const (
	dbnDayOne = 1704067200000000000 // 2024-01-01
	dbnDayTwo = dbnDayOne + 86400e9
)

func dbnRecordHead(b []byte, kind byte, extra int, instrument uint32, event uint64) {
	b[0], b[1] = byte((len(b)+extra)/4), kind
	le.PutUint16(b[2:], 2)
	le.PutUint32(b[4:], instrument)
	le.PutUint64(b[8:], event)
}

func dbnOrder(extra int, instrument uint32, recv uint64, order uint64, price int64, size uint32, action, side, flags byte) []byte {
	b := make([]byte, dbnOrderSize)
	dbnRecordHead(b, dbnOrderType, extra, instrument, recv-1000)
	le.PutUint64(b[16:], order)
	le.PutUint64(b[24:], uint64(price))
	le.PutUint32(b[32:], size)
	b[36], b[37], b[38], b[39] = flags, 3, action, side
	le.PutUint64(b[40:], recv)
	le.PutUint32(b[52:], 99)
	return append(b, make([]byte, extra)...)
}

func dbnTrade(instrument uint32, recv uint64, price int64, size uint32, side byte) []byte {
	b := make([]byte, dbnTradeSize)
	dbnRecordHead(b, dbnTradeType, 0, instrument, recv-1000)
	le.PutUint64(b[16:], uint64(price))
	le.PutUint32(b[24:], size)
	b[28], b[29], b[30] = 'T', side, 0x80
	le.PutUint64(b[32:], recv)
	le.PutUint32(b[44:], 5)
	return b
}

func importBytes(t *testing.T, name string, b []byte) ([]string, Report, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.dbn")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: filepath.Join(t.TempDir(), "s"), Paths: []string{path}, Preset: preset(t, name), Stream: stream.Options{Durability: stream.Os, Capacity: 64}}
	r, err := Import(t.Context(), o)
	return dump(t, o.Dir), r, err
}

func TestDBN(t *testing.T) {
	system := make([]byte, 24)
	dbnRecordHead(system, 0x17, 0, 0, dbnDayOne)
	for version := byte(1); version <= 3; version++ {
		for _, extra := range []int{0, 8} {
			in := slices.Concat(dbnHead(version, extra > 0),
				dbnOrder(extra, 7, dbnDayOne, 1<<63, 123456789000, 100, 'A', 'B', 0x80), system,
				dbnOrder(extra, 7, dbnDayTwo, 2, 1, 5, 'C', 'A', 0x20),
				dbnOrder(extra, 9, dbnDayTwo, 0, dbnNoPrice, 0, 'R', 'N', 0x84))
			got, r, err := importBytes(t, "dbn-mbo", in)
			want := []string{
				"1704067200000000000 px=123.456789000 qty=100 order=9223372036854775808 venue_seq=99 venue_ts=1704067199999999000 flags=8388608 sym=MSFT venue=2 kind=1",
				"1704153600000000000 px=0.000000001 qty=5 order=2 venue_seq=99 venue_ts=1704153599999999000 flags=2109440 sym=AAPL venue=2 kind=2 side=1",
				"1704153600000000000 venue_seq=99 venue_ts=1704153599999999000 flags=8667136 sym=9 venue=2 kind=13 side=2",
			}
			if err != nil || !slices.Equal(got, want) || r.Skipped != 1 {
				t.Errorf("version %d, %d more: %+v, %v\n%s\nwant\n%s", version, extra, r, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	got, _, err := importBytes(t, "dbn-trades", slices.Concat(dbnHead(2, false), dbnTrade(8, dbnDayOne, 5e9, 7, 'A')))
	if err != nil || len(got) != 1 || got[0] != "1704067200000000000 px=5.000000000 qty=7 venue_seq=5 venue_ts=1704067199999999000 flags=8388608 sym=GOOG venue=2 side=1" {
		t.Errorf("a trade: %q, %v", got, err)
	}
}

func TestDBNRefused(t *testing.T) {
	order := dbnOrder(0, 7, dbnDayOne, 1, 1, 1, 'A', 'B', 0x80)
	good := slices.Concat(dbnHead(3, false), order)
	long := bytes.Clone(order)
	long[0]++
	for name, c := range map[string]struct {
		in  []byte
		say string
	}{
		"nothing":           {nil, "no DBN"},
		"a text":            {[]byte("time,price\n1,2\n"), "no DBN"},
		"version 4":         {append([]byte("DBN\x04"), good[4:]...), "version 4"},
		"cut metadata":      {good[:200], "metadata"},
		"small metadata":    {[]byte("DBN\x02\x04\x00\x00\x00abcd"), "4 bytes"},
		"a cut record":      {good[:len(good)-1], "record 1"},
		"another length":    {slices.Concat(dbnHead(3, false), long, make([]byte, 4)), "60 bytes, and its type has 56"},
		"a length of 0":     {append(bytes.Clone(good), 0), "record 2"},
		"an unknown action": {slices.Concat(dbnHead(3, false), dbnOrder(0, 7, dbnDayOne, 1, 1, 1, 'X', 'B', 0)), "record 1, column action"},
	} {
		got, _, err := importBytes(t, "dbn-mbo", c.in)
		if err == nil || !strings.Contains(err.Error(), c.say) || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzDBN: no bytes make the reader panic or go on for ever, and what it reads has
// all of its cells.
func FuzzDBN(f *testing.F) {
	f.Add(slices.Concat(dbnHead(1, true), dbnOrder(8, 7, dbnDayOne, 1, 1, 1, 'A', 'B', 0)), true)
	f.Add(slices.Concat(dbnHead(2, false), dbnTrade(7, dbnDayOne, 1, 1, 'A')), false)
	f.Fuzz(func(t *testing.T, b []byte, orders bool) {
		kind := byte(dbnTradeType)
		if orders {
			kind = dbnOrderType
		}
		r, err := newDBN(bytes.NewReader(b), kind)
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			cells, err := r.next()
			if err != nil {
				if err == io.EOF && errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal("an end that is none")
				}
				return
			}
			if len(cells) != len(dbnColumns) || n > len(b) {
				t.Fatalf("%d cells, record %d of %d bytes", len(cells), n, len(b))
			}
		}
	})
}
