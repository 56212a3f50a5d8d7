package segment_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

func errorIs(err, target error) bool { return err != nil && errors.Is(err, target) }

func goodHeader() segment.Header {
	return segment.Header{
		Version: 2, Width: 40, First: 65_536, Count: 1000, MinTime: -5, MaxTime: 7, CRC: 0x12345678,
		Flags: segment.FlagSorted, SealedAt: 1_700_000_000_000, Tag: 0xdeadbeef,
	}
}

// resum makes a header's CRC right.
func resum(b []byte) {
	binary.LittleEndian.PutUint32(b[60:], crc32.ChecksumIEEE(b[:60]))
}

func TestDecodeHeaderRefuses(t *testing.T) {
	le := binary.LittleEndian
	for _, tt := range []struct {
		name  string
		spoil func(b []byte) []byte
		field string // "" where it is no damage
		is    error
	}{
		{"nothing", func(b []byte) []byte { return nil }, "size", segment.ErrShort},
		{"63 bytes", func(b []byte) []byte { return b[:63] }, "size", segment.ErrShort},
		{"zeros", func(b []byte) []byte { clear(b); return b }, "magic", segment.ErrCorrupt},
		{"magic", func(b []byte) []byte { b[3] = 'T'; resum(b); return b }, "magic", segment.ErrCorrupt},
		{"sum", func(b []byte) []byte { b[61]++; return b }, "header_crc", segment.ErrCorrupt},
		{"version 0", func(b []byte) []byte { b[4] = 0; resum(b); return b }, "version", segment.ErrCorrupt},
		{"version 1 for 2", func(b []byte) []byte { b[4] = 1; return b }, "header_crc", segment.ErrCorrupt},
		{"version from the future", func(b []byte) []byte { b[4] = 3; resum(b); return b }, "", segment.ErrVersion},
		{"version, damaged or with another sum", func(b []byte) []byte { b[5] = 9; return b }, "version", segment.ErrVersion},
		{"flag from the future", func(b []byte) []byte { b[44] |= 4; resum(b); return b }, "", segment.ErrVersion},
		{"width 8", func(b []byte) []byte { b[6] = 8; resum(b); return b }, "width", segment.ErrCorrupt},
		{"width 44", func(b []byte) []byte { b[6] = 44; resum(b); return b }, "width", segment.ErrCorrupt},
		{"width 152", func(b []byte) []byte { b[6] = 152; resum(b); return b }, "width", segment.ErrCorrupt},
		{"no records", func(b []byte) []byte { le.PutUint64(b[16:], 0); resum(b); return b }, "count", segment.ErrCorrupt},
		{"numbers run out", func(b []byte) []byte { le.PutUint64(b[8:], math.MaxUint64-999); resum(b); return b }, "count", segment.ErrCorrupt},
		{"times", func(b []byte) []byte { le.PutUint64(b[24:], 8); resum(b); return b }, "min_ts", segment.ErrCorrupt},
		{"legacy in version 2", func(b []byte) []byte { clear(b[44:48]); clear(b[56:]); return b }, "header_crc", segment.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := segment.DecodeHeader(tt.spoil(goodHeader().Append(nil)))
			if !errorIs(err, tt.is) {
				t.Errorf("%v, want %v", err, tt.is)
			}
			e, ok := errors.AsType[*segment.CorruptError](err)
			if ok != (tt.field != "") || ok && e.Field != tt.field {
				t.Errorf("%v: field is not %q", err, tt.field)
			}
		})
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	largest := goodHeader()
	largest.Version, largest.Width = 1, schema.WidthMax
	largest.First, largest.Count = math.MaxUint64-1, 1
	largest.MinTime, largest.MaxTime, largest.SealedAt = math.MinInt64, math.MaxInt64, math.MinInt64
	largest.Flags = segment.FlagDurable | segment.FlagSorted
	legacy := segment.Header{Version: 1, Width: 40, First: 8, MinTime: 5, MaxTime: -5, CRC: 1, SealedAt: 3, Legacy: true}
	for _, h := range []segment.Header{goodHeader(), largest, legacy} {
		b := h.Append([]byte("before"))
		if len(b) != len("before")+segment.HeaderSize {
			t.Fatalf("%d bytes", len(b))
		}
		got, err := segment.DecodeHeader(append(b, "behind"...)[len("before"):])
		if err != nil || got != h {
			t.Errorf("%+v, %v, want %+v", got, err, h)
		}
	}
}

func TestName(t *testing.T) {
	for _, first := range []uint64{0, 8, 65_536, math.MaxUint64} {
		name := segment.Name(first)
		got, ok := segment.ParseName(name)
		if !ok || got != first || len(name) != 24 {
			t.Errorf("%q: %d, %v, want %d", name, got, ok, first)
		}
	}
	for _, name := range []string{
		"", ".seg", "0.seg", "00000000000000000000", "00000000000000000000.SEG",
		"0000000000000000000.seg", "000000000000000000000.seg", "+0000000000000000000.seg",
		"0000000000000000000x.seg", "18446744073709551616.seg", "99999999999999999999.seg",
		"00000000000000000000.seg.tmp", " 0000000000000000000.seg",
	} {
		if first, ok := segment.ParseName(name); ok {
			t.Errorf("%q is %d", name, first)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, l := range []segment.Layout{segment.Columns, segment.Rows} {
		if got, err := segment.ParseLayout(l.String()); err != nil || got != l {
			t.Errorf("%v: %v, %v", l, got, err)
		}
	}
	if _, err := segment.ParseLayout("Columns" + strings.Repeat("x", 1000)); err == nil || len(err.Error()) > 200 {
		t.Errorf("error %v", err)
	}
	if got := segment.Layout(7).String(); got != "layout(7)" {
		t.Error(got)
	}
}

func TestSize(t *testing.T) {
	s := fillSchema(t)
	for _, tt := range []struct {
		layout segment.Layout
		count  uint64
		want   int64
	}{
		{segment.Rows, 0, 64},
		{segment.Rows, 3, 64 + 120},
		{segment.Columns, 64, 64 + 64*28 + 64 + 8*48},
		{segment.Columns, 65_536, 64 + 65_536*28 + 64 + 8*48}, // 28.01 bytes a fill
		{segment.Columns, 1, 64 + 8*64 + 64 + 8*48},
		{segment.Rows, math.MaxUint64, -1},
		{segment.Columns, math.MaxUint64 / 28, -1},
		{segment.Rows, math.MaxInt64/40 + 1, -1},
	} {
		if got := segment.Size(s, tt.layout, tt.count); got != tt.want {
			t.Errorf("%d %v: %d, want %d", tt.count, tt.layout, got, tt.want)
		}
	}
}

func goodFooter(t testing.TB) []byte {
	s := goldenSchema(t)
	image, _ := encode(t, segment.Meta{ID: goldenID, Capacity: 9, Schema: s}, segment.Columns, goldenRows(t, s))
	return image[len(image)-64-4*48:]
}

func TestDecodeFooterRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		spoil  func(b []byte) []byte
		offset int64
		field  string
	}{
		{"short", func(b []byte) []byte { return b[:63] }, 63, "size"},
		{"a column less", func(b []byte) []byte { return b[:len(b)-48] }, 21, "columns"},
		{"no columns", func(b []byte) []byte { b[21] = 0; return b[:64] }, 21, "columns"},
		{"18 columns", func(b []byte) []byte { b[21] = 18; return append(b, make([]byte, 14*48)...) }, 21, "columns"},
		{"unit", func(b []byte) []byte { b[20] = 0; return b }, 20, "unit"},
		{"another unit", func(b []byte) []byte { b[20] = 4; return b }, 64, "columns"},
		{"zeros", func(b []byte) []byte { b[63] = 1; return b }, 22, "zero"},
		{"zeros of a column", func(b []byte) []byte { b[64+47] = 1; return b }, 64 + 34, "zero"},
		{"ts is not first", func(b []byte) []byte { b[64+16] = 'x'; return b }, 64, "column ts"},
		{"name behind a zero", func(b []byte) []byte { b[64+48+27] = 'x'; return b }, 64 + 48 + 16, "name"},
		{"name", func(b []byte) []byte { b[64+48+16] = 'X'; return b }, 64, "columns"},
		{"no name", func(b []byte) []byte { clear(b[64+48+16 : 64+48+28]); return b }, 64, "columns"},
		{"kind", func(b []byte) []byte { b[64+48+32] = 9; return b }, 64, "columns"},
		{"scale", func(b []byte) []byte { b[64+48+33] = 19; return b }, 64, "columns"},
		{"signed min above max", func(b []byte) []byte { b[64+2*48+7] = 0x7f; return b }, 64 + 2*48, "min"},
		{"unsigned min above max", func(b []byte) []byte { copy(b[64+3*48:], "\xff\xff\xff\xff\xff\xff\xff\xff"); return b }, 64 + 3*48, "min"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := segment.DecodeFooter(tt.spoil(goodFooter(t)))
			e, ok := errors.AsType[*segment.CorruptError](err)
			if !ok || e.Field != tt.field || e.Offset != tt.offset {
				t.Errorf("%v, want damage of %s at %d", err, tt.field, tt.offset)
			}
		})
	}
}

func TestFooterRoundTrip(t *testing.T) {
	b := goodFooter(t)
	foot, err := segment.DecodeFooter(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := foot.Append(nil); string(got) != string(b) {
		t.Errorf("%x, want %x", got, b)
	}
	if m := foot.Meta; m.ID != goldenID || m.Capacity != 9 || !m.Schema.Equal(goldenSchema(t)) {
		t.Errorf("meta %+v", m)
	}
	order := foot.Columns[3]
	if order.Min != 0 || uint64(order.Max) != math.MaxUint64-1 {
		t.Errorf("order from %d to %d", order.Min, order.Max)
	}
}
