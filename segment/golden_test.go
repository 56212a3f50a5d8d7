package segment_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

var update = flag.Bool("update", false, "write the golden files anew; see TestFormat")

// A part is a run of bytes with one meaning.
type part struct {
	size    int
	meaning string
}

// The header of both versions, byte by byte. The numbers here are not those of
// format.go: the two must agree.
var headerParts = []part{
	{4, "magic"}, {2, "version"}, {2, "width"}, {8, "first_seq"}, {8, "count"},
	{8, "min_ts"}, {8, "max_ts"}, {4, "crc"}, {4, "flags: sorted, durable"},
	{8, "sealed_at"}, {4, "tag"}, {4, "header_crc"},
}

func goldenSchema(t testing.TB) *schema.Schema {
	return mustSchema(t,
		schema.Field{Name: "side", Kind: schema.U8},
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "order", Kind: schema.U64},
	)
}

func goldenRows(t testing.TB, s *schema.Schema) []byte {
	t.Helper()
	rows := make([]byte, 3*s.Width())
	for i := range 3 {
		rec := rows[i*s.Width():]
		schema.PutSeq(rec, uint64(65_536+i))
		schema.PutTime(rec, 1_700_000_000_000_000_000+int64(i/2))
		for field, v := range []int64{int64(i), 6_412_350 - int64(i)*6_412_351, math.MaxInt64 * int64(i)} {
			if err := s.PutBits(rec, field, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return rows
}

var goldenID = [16]byte{0: 0x11, 15: 0xff}

func rowParts() []part {
	parts := headerParts
	for i := range 3 {
		parts = append(parts[:len(parts):len(parts)],
			part{8, fmt.Sprintf("record %d: seq", i)}, part{8, "ts"}, part{1, "side"}, part{3, "padding"},
			part{4, "px"}, part{8, "order"})
	}
	return parts
}

func columnParts() []part {
	parts := append(headerParts[:len(headerParts):len(headerParts)],
		part{24, "column ts"}, part{40, "zero"},
		part{3, "column side"}, part{61, "zero"},
		part{12, "column px"}, part{52, "zero"},
		part{24, "column order"}, part{40, "zero"},
		part{16, "footer: id"}, part{4, "capacity"}, part{1, "unit"}, part{1, "columns"}, part{42, "zero"},
	)
	for _, name := range []string{"ts", "side", "px", "order"} {
		parts = append(parts, part{8, name + ": min"}, part{8, "max"}, part{12, "name"},
			part{4, "crc"}, part{1, "kind"}, part{1, "scale"}, part{14, "zero"})
	}
	return parts
}

// dump writes each part's place, bytes and meaning on a line. The parts must
// account for every byte.
func dump(t *testing.T, b []byte, parts []part) string {
	t.Helper()
	var out strings.Builder
	off := 0
	for _, p := range parts {
		if off+p.size > len(b) {
			t.Fatalf("the parts end behind the %d bytes", len(b))
		}
		text := hex.EncodeToString(b[off : off+p.size])
		if p.meaning == "zero" && strings.Trim(text, "0") == "" {
			text = "00 …"
		}
		fmt.Fprintf(&out, "%03d-%03d  %-48s  %s\n", off, off+p.size, text, p.meaning)
		off += p.size
	}
	if off != len(b) {
		t.Fatalf("the parts account for %d of %d bytes", off, len(b))
	}
	return out.String()
}

// TestFormat pins the bytes of versions 1 and 2. If it fails, files in the field
// stop opening: make a version 3 instead of running -update.
func TestFormat(t *testing.T) {
	s := goldenSchema(t)
	m := segment.Meta{ID: goldenID, Capacity: 65_536, Schema: s}
	for _, tt := range []struct {
		layout segment.Layout
		parts  []part
		golden string
	}{
		{segment.Rows, rowParts(), "v1_3rows.golden"},
		{segment.Columns, columnParts(), "v2_3rows.golden"},
	} {
		t.Run(tt.layout.String(), func(t *testing.T) {
			image, _ := encode(t, m, tt.layout, goldenRows(t, s))
			got := dump(t, image, tt.parts)
			path := filepath.Join("testdata", tt.golden)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the bytes are\n%swant\n%s", got, want)
			}
		})
	}
}

const legacyPath = "testdata/golden/00000000000000000008.seg"

// TestLegacyFile opens a file that the original engine wrote, proves it right,
// and makes it again to the byte.
func TestLegacyFile(t *testing.T) {
	s := fillSchema(t)
	f, err := segment.OpenLegacy(disk.OS(), legacyPath, s)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Evict()
	h := f.Header()
	if !h.Legacy || h.Version != 1 || h.First != 8 || h.Count != 2 || f.Layout() != segment.Rows || f.Torn() != 0 {
		t.Errorf("header %+v", h)
	}
	if err := f.Check(context.Background()); err != nil {
		t.Error(err)
	}
	g := acquire(t, f)
	rows, err := g.Rows(nil, 0, g.Len())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(legacyPath)
	if err != nil {
		t.Fatal(err)
	}
	if got := append(h.Append(nil), rows...); !bytes.Equal(got, want) {
		t.Errorf("encoded again:\n%x\nwant\n%x", got, want)
	}
	px, err := segment.ColumnOf[int32](g, "px")
	if err != nil || px.At(0) != 6_412_335 || px.At(1) != 6_412_336 {
		t.Errorf("px: %v", err)
	}
}

// TestLegacyIsNotOurs: where a tag is asked for, a legacy file is damage, and
// where a legacy file is asked for, one with a tag is refused.
func TestLegacyIsNotOurs(t *testing.T) {
	s := fillSchema(t)
	if _, err := segment.Open(disk.OS(), legacyPath, s, 0); !errorIs(err, segment.ErrCorrupt) {
		t.Errorf("Open: %v, want ErrCorrupt", err)
	}
	if _, _, err := segment.OpenSelf(disk.OS(), legacyPath); !errorIs(err, segment.ErrRows) {
		t.Errorf("OpenSelf: %v, want ErrRows", err)
	}
	image, _ := encode(t, segment.Meta{Schema: s}, segment.Rows, randomRows(s, newRand(1), 0, 3, true))
	if _, err := segment.OpenLegacy(&memFS{data: image}, segment.Name(0), s); !errorIs(err, segment.ErrRows) {
		t.Errorf("OpenLegacy: %v, want ErrRows", err)
	}
}

// TestLegacyUnfinished: a header whose count is 0 counts nothing, the size does.
// A part of a record at the end is torn.
func TestLegacyUnfinished(t *testing.T) {
	s := fillSchema(t)
	whole, err := os.ReadFile(legacyPath)
	if err != nil {
		t.Fatal(err)
	}
	clear(whole[16:44]) // count, min_ts, max_ts, crc
	for size := segment.HeaderSize; size <= len(whole); size++ {
		fsys := &memFS{data: whole[:size:size]}
		f, err := segment.OpenLegacy(fsys, "/old/"+segment.Name(8), s)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		h := f.Header()
		if got, want := int64(h.Count)*40+f.Torn(), int64(size-segment.HeaderSize); got != want || f.Torn() >= 40 {
			t.Fatalf("%d bytes: %d records and %d torn bytes", size, h.Count, f.Torn())
		}
		if n := h.Count; n > 0 && (h.MinTime != 1_791_800_000_002_250 || h.MaxTime != h.MinTime+int64(n-1)*250) {
			t.Fatalf("%d bytes: times [%d, %d]", size, h.MinTime, h.MaxTime)
		}
		if err := f.Check(context.Background()); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		g, err := f.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := g.Rows(nil, 0, g.Len())
		if err != nil || !bytes.Equal(rows, whole[64:64+g.Len()*40]) {
			t.Fatalf("%d bytes: other records, %v", size, err)
		}
		f.Release()
		f.Evict()
	}
}
