package importer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/shapes"
)

// DBN, versions 1 to 3, little-endian. A file begins with
//
//	0  3  "DBN"
//	3  1  version
//	4  4  length of the metadata behind these eight bytes
//
// and the metadata with
//
//	 0  16  dataset
//	16   2  schema: 0 is mbo, 4 is trades, 65535 mixed
//	18  24  start, end, limit
//	42   8  number of records; version 1 only, what follows moves up without it
//	50   1  type of the symbols asked for
//	51   1  type of the symbols in the records: 0 is instrument_id
//	52   1  whether each record has the time of sending behind it
//	53   2  bytes a symbol has, from version 2 on; 22 in version 1
//
// up to byte 100. Then come the length of a schema definition, which is 0, three
// lists of symbols, and the list of which instrument_id means which symbol.
const (
	dbnFixed     = 100
	dbnMetaMax   = 256 << 20 // bytes; far above what any file has
	dbnSymbolV1  = 22
	dbnTradeSize = 48
	dbnOrderSize = 56
	dbnTradeType = 0x00
	dbnOrderType = 0xa0
	dbnNoPrice   = math.MaxInt64
	dbnNoTime    = math.MaxUint64
)

// dbnColumns are the cells of a record, those of both types together.
var dbnColumns = []string{"ts_recv", "ts_event", "publisher_id", "instrument_id", "symbol", "order_id", "price", "size",
	"flags", "channel_id", "action", "side", "depth", "ts_in_delta", "sequence"}

// A dbnTable reads the records of one type; others, such as definitions and
// heartbeats, are passed over.
type dbnTable struct {
	r       *bufio.Reader
	kind    byte
	extra   int // bytes behind each record that aren't part of it
	symbols map[uint32][]dbnSymbol
	rec     [1024]byte
	n       int
	passed  uint64 // records of other types
	cells   []string
}

// A dbnSymbol is what an instrument_id means on the days [from, to), as yyyymmdd.
type dbnSymbol struct {
	from, to uint32
	text     string
}

func newDBN(r io.Reader, kind byte) (*dbnTable, error) {
	t := &dbnTable{r: bufio.NewReaderSize(r, 256<<10), kind: kind, symbols: map[uint32][]dbnSymbol{}, cells: make([]string, len(dbnColumns))}
	var head [8]byte
	if _, err := io.ReadFull(t.r, head[:]); err != nil || string(head[:3]) != "DBN" {
		return nil, errors.New("this is no DBN: it does not begin with DBN")
	}
	version, size := head[3], binary.LittleEndian.Uint32(head[4:])
	if version < 1 || version > 3 {
		return nil, fmt.Errorf("DBN of version %d: 1 to 3 are known", version)
	}
	if size < dbnFixed || size > dbnMetaMax {
		return nil, fmt.Errorf("DBN whose metadata has %d bytes", size)
	}
	meta, err := io.ReadAll(io.LimitReader(t.r, int64(size)))
	if err == nil && len(meta) < int(size) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = t.metadata(meta, version)
	}
	if err != nil {
		return nil, fmt.Errorf("DBN metadata: %w", err)
	}
	return t, nil
}

// A dbnCursor takes values off the front of the metadata.
type dbnCursor struct {
	b   []byte
	err error
}

func (c *dbnCursor) take(n int) []byte {
	if c.err != nil || n > len(c.b) {
		c.err = io.ErrUnexpectedEOF
		return make([]byte, min(n, 1024))
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *dbnCursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }

func (t *dbnTable) metadata(b []byte, version byte) error {
	at := 42
	if version == 1 {
		at += 8
	}
	idOut := b[at+1] == 0
	if b[at+2] != 0 {
		t.extra = 8
	}
	width := dbnSymbolV1
	if version > 1 {
		width = int(binary.LittleEndian.Uint16(b[at+3:]))
	}
	c := &dbnCursor{b: b[dbnFixed:]}
	if n := c.u32(); n != 0 {
		return fmt.Errorf("a schema definition of %d bytes, which none had so far", n)
	}
	for range 3 {
		n := int(c.u32())
		if n > len(c.b)/max(width, 1) {
			return io.ErrUnexpectedEOF
		}
		c.take(n * width)
	}
	text := func() string { return strings.TrimRight(string(c.take(width)), "\x00") }
	for n := c.u32(); n > 0 && c.err == nil; n-- {
		raw := text()
		for k := c.u32(); k > 0 && c.err == nil; k-- {
			from, to, out := c.u32(), c.u32(), text()
			if id, err := strconv.ParseUint(out, 10, 32); err == nil && idOut && c.err == nil {
				t.symbols[uint32(id)] = append(t.symbols[uint32(id)], dbnSymbol{from, to, raw})
			}
		}
	}
	return c.err
}

func (t *dbnTable) columns() []string { return dbnColumns }
func (t *dbnTable) row() int          { return t.n }
func (t *dbnTable) text() []byte      { return nil }

func (t *dbnTable) next() ([]string, error) {
	for {
		words, err := t.r.ReadByte()
		if err != nil {
			return nil, err
		}
		t.n++
		size := 4 * int(words)
		if size < 16 {
			return nil, fmt.Errorf("record %d: %d bytes are too few for its head", t.n, size)
		}
		t.rec[0] = words
		if _, err := io.ReadFull(t.r, t.rec[1:size]); err != nil {
			return nil, fmt.Errorf("record %d: %w", t.n, io.ErrUnexpectedEOF)
		}
		if t.rec[1] != t.kind {
			t.passed++
			continue
		}
		want := dbnTradeSize
		if t.kind == dbnOrderType {
			want = dbnOrderSize
		}
		if size != want+t.extra {
			return nil, fmt.Errorf("record %d: %d bytes, and its type has %d", t.n, size, want+t.extra)
		}
		t.fill(t.rec[:want])
		return t.cells, nil
	}
}

// fill makes texts of a record's values.
//
//	      head   0 length u8 · 1 type u8 · 2 publisher u16 · 4 instrument u32 · 8 ts_event u64
//	trade 48 B  16 price i64 · 24 size u32 · 28 action · 29 side · 30 flags u8 · 31 depth u8 · 32 ts_recv u64 · 40 ts_in_delta i32 · 44 sequence u32
//	mbo   56 B  16 order_id u64 · 24 price i64 · 32 size u32 · 36 flags u8 · 37 channel u8 · 38 action · 39 side · 40 ts_recv u64 · 48 ts_in_delta i32 · 52 sequence u32
func (t *dbnTable) fill(b []byte) {
	le := binary.LittleEndian
	u := func(v uint64) string { return strconv.FormatUint(v, 10) }
	tail, price, size, act, side, flags := b[32:], le.Uint64(b[16:]), le.Uint32(b[24:]), b[28], b[29], b[30]
	order, channel, depth := "0", "", u(uint64(b[31]))
	if t.kind == dbnOrderType {
		tail, price, size, act, side, flags = b[40:], le.Uint64(b[24:]), le.Uint32(b[32:]), b[38], b[39], b[36]
		order, channel, depth = u(le.Uint64(b[16:])), u(uint64(b[37])), ""
	}
	recv := le.Uint64(tail)
	id := le.Uint32(b[4:])
	t.cells = append(t.cells[:0], dbnTime(recv), dbnTime(le.Uint64(b[8:])), u(uint64(le.Uint16(b[2:]))), u(uint64(id)), t.symbol(id, recv),
		order, dbnPrice(int64(price)), u(uint64(size)), u(uint64(flags)), channel, dbnChar(act), dbnChar(side), depth,
		strconv.FormatInt(int64(int32(le.Uint32(tail[8:]))), 10), u(uint64(le.Uint32(tail[12:]))))
}

// dbnDay is the day of a time in UTC, as yyyymmdd.
func dbnDay(ns uint64) uint32 {
	y, m, d := time.Unix(int64(ns/1e9), 0).UTC().Date()
	return uint32(y*10000 + int(m)*100 + d)
}

func dbnChar(c byte) string { return string(rune(c)) }

// dbnTime is "" where there is none.
func dbnTime(ns uint64) string {
	if ns == dbnNoTime {
		return ""
	}
	return strconv.FormatUint(ns, 10)
}

// dbnPrice is "" where there is none.
func dbnPrice(v int64) string {
	if v == dbnNoPrice {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// symbol is what the file says that an instrument means at a time, else its number.
func (t *dbnTable) symbol(id uint32, ns uint64) string {
	list := t.symbols[id]
	if len(list) == 1 {
		return list[0].text
	}
	if len(list) > 1 {
		day := dbnDay(ns)
		for _, s := range list {
			if day >= s.from && day < s.to {
				return s.text
			}
		}
	}
	return strconv.FormatUint(uint64(id), 10)
}

// dbnFlags turns a record's flag bits into those of package shapes; all eight are
// kept beside it, in bits 16 to 23.
func dbnFlags() Conv {
	const last, snapshot, gap = 1 << 7, 1 << 5, 1 << 2
	return Conv{about: "flags: last, snapshot and gap as shapes has them, all of them << 16", do: func(c *cell) (int64, error) {
		v, err := strconv.ParseUint(c.text, 10, 8)
		if err != nil {
			return 0, err
		}
		out := int64(v) << 16
		if v&last == 0 {
			out |= shapes.FlagMore
		}
		if v&snapshot != 0 {
			out |= shapes.FlagSnapshot
		}
		if v&gap != 0 {
			out |= shapes.FlagGap
		}
		return out, nil
	}}
}

// dbnPx is a price of 10^-9, and 0 where the record has none.
func dbnPx() Conv {
	return Conv{about: "integer × 10^-9, 0 where it has none", do: func(c *cell) (int64, error) {
		if c.text == "" {
			return 0, nil
		}
		return scaled(c, 9)
	}}
}

func dbnRules(more ...Rule) []Rule {
	sides := map[string]int64{"B": int64(shapes.Buy), "A": int64(shapes.Sell), "N": int64(shapes.NoSide)}
	return append([]Rule{
		{To: "ts", From: "ts_recv", As: Time(Nanos)},
		{To: "venue_ts", From: "ts_event", As: Time(Nanos)},
		{To: "px", From: "price", As: dbnPx()},
		{To: "qty", From: "size", As: Integer()},
		{To: "venue_seq", From: "sequence", As: Integer()},
		{To: "flags", From: "flags", As: dbnFlags()},
		{To: "sym", From: "symbol", As: Text()},
		{To: "venue", From: "publisher_id", As: Integer()},
		{To: "side", From: "side", As: Table(sides)},
	}, more...)
}

func dbnTrades() Preset {
	return Preset{Name: "dbn-trades", About: "Databento trades, DBN of version 1 to 3; records of other types are passed over",
		Format: Format{Form: DBNTrades}, Shape: "trade", Px: 9, Qty: 0, Rules: dbnRules(),
		Doc: "ts is ts_recv, venue_ts is ts_event; venue is the publisher"}
}

func dbnOrders() Preset {
	return Preset{Name: "dbn-mbo", About: "Databento market by order, DBN of version 1 to 3; records of other types are passed over",
		Format: Format{Form: DBNOrders}, Shape: "mbo", Px: 9, Qty: 0,
		Rules: dbnRules(
			Rule{To: "order", From: "order_id", As: Integer()},
			Rule{To: "kind", From: "action", As: Table(map[string]int64{"A": int64(shapes.Limit), "M": int64(shapes.Replace), "C": int64(shapes.Reduce),
				"R": int64(shapes.Clear), "T": int64(shapes.Print), "F": KindFilled, "N": KindNone})}),
		Doc: "ts is ts_recv, venue_ts is ts_event; venue is the publisher; F is kind 129, whose reduce follows, and N is kind 130"}
}
