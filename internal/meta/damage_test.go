package meta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"example.com/ledger/internal/disk"
)

// An object is a file that is checksummed JSON.
type object struct {
	kind   string
	b      []byte
	decode func(b []byte) error
}

func objects(t testing.TB) map[string]object {
	stream := func(b []byte) error { _, err := DecodeStream("stream.json", b); return err }
	drops := func(b []byte) error { _, err := DecodeDrops("drops.json", b); return err }
	consumer := func(b []byte) error { _, err := DecodeConsumer("consumer.json", b); return err }
	return map[string]object{
		"stream.json":   {"stream", encodeStream(t, sampleStream(t)), stream},
		"drops.json":    {"drops", encodeDrops(t, sampleDrops()), drops},
		"none.json":     {"drops", encodeDrops(t, Drops{ID: sampleDrops().ID}), drops},
		"consumer.json": {"consumer", encodeConsumer(t, sampleConsumer()), consumer},
	}
}

// TestEveryBit: each changed bit of a file is found, and so are each cut, and a
// whole file in the place of another.
func TestEveryBit(t *testing.T) {
	for name, o := range objects(t) {
		if err := o.decode(o.b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for bit := range len(o.b) * 8 {
			b := bytes.Clone(o.b)
			b[bit/8] ^= 1 << (bit % 8)
			if err := o.decode(b); !errors.Is(err, disk.ErrCorrupt) {
				t.Fatalf("%s with bit %d of byte %d changed: %v", name, bit%8, bit/8, err)
			}
		}
		for n := range o.b {
			if err := o.decode(o.b[:n]); !errors.Is(err, disk.ErrCorrupt) {
				t.Fatalf("%s cut to %d bytes: %v", name, n, err)
			}
		}
		for _, more := range []string{" ", "\n", "{}", "\x00", "\"crc\": \"00000000\""} {
			if err := o.decode(append(bytes.Clone(o.b), more...)); !errors.Is(err, disk.ErrCorrupt) {
				t.Errorf("%s and %q: %v", name, more, err)
			}
		}
		for other, p := range objects(t) {
			alike := o.kind == p.kind
			if err := p.decode(o.b); (err == nil) != alike {
				t.Errorf("%s read as %s: %v", name, other, err)
			}
		}
	}
}

// TestEveryBitOfThePage: a changed bit of what the checksum covers is found. All
// else in the page is the published number, a hint that readers check against
// frames, and zeros that nobody reads.
func TestEveryBitOfThePage(t *testing.T) {
	for bit := range CursorSize * 8 {
		b := page()
		b[bit/8] ^= 1 << (bit % 8)
		c, ok, err := DecodeCursors(b)
		if at := bit / 8; at < 44 {
			if ok || err != nil {
				t.Fatalf("bit %d of byte %d: %+v, %v, %v", bit%8, at, c, ok, err)
			}
		} else if c != sampleCursors || !ok || err != nil || (Published(b) != Published(page())) != (at >= PublishedAt && at < PublishedAt+8) {
			t.Fatalf("bit %d of byte %d: %+v, %v, %v, published %#x", bit%8, at, c, ok, err, Published(b))
		}
	}
	for n := range 44 {
		if c, ok, err := DecodeCursors(page()[:n]); ok || err != nil {
			t.Fatalf("%d bytes: %+v, %v, %v", n, c, ok, err)
		}
	}
	if c, ok, err := DecodeCursors(make([]byte, CursorSize)); ok || err != nil {
		t.Errorf("zeros: %+v, %v, %v", c, ok, err)
	}
}

// resum puts the right checksum into a changed file.
func resum(b []byte) []byte {
	b = bytes.Clone(b)
	at := bytes.LastIndex(b, []byte(`"crc": "`)) + len(`"crc": "`)
	if at < len(`"crc": "`) || at+8 > len(b) {
		return b
	}
	sum := crc32.ChecksumIEEE(append(bytes.Clone(b[:at]), b[at+8:]...))
	copy(b[at:], strconv.FormatUint(1<<32|uint64(sum), 16)[1:])
	return b
}

// TestVersions: a later version is told from damage, of which it is none.
func TestVersions(t *testing.T) {
	for name, o := range objects(t) {
		for version, want := range map[string]error{"2": disk.ErrVersion, "1000": disk.ErrVersion, "0": disk.ErrCorrupt, "-1": disk.ErrCorrupt,
			"1.5": disk.ErrCorrupt, `"1"`: disk.ErrCorrupt, "null": disk.ErrCorrupt, "1": nil} {
			b := resum(bytes.Replace(o.b, []byte(`"version": 1`), []byte(`"version": `+version), 1))
			if err := o.decode(b); !errors.Is(err, want) || errors.Is(err, disk.ErrVersion) != (want == disk.ErrVersion) {
				t.Errorf("%s of version %s: %v, want %v", name, version, err, want)
			}
		}
		later := bytes.Replace(o.b, []byte(`"version": 1`), []byte(`"version": 2, "schema": 7, "ranges": {}, "position": []`), 1)
		if err := o.decode(resum(later)); !errors.Is(err, disk.ErrVersion) {
			t.Errorf("%s of a later version with other fields: %v", name, err)
		}
	}
	b := page()
	for version, want := range map[uint16]error{0: disk.ErrVersion, 1: nil, 2: disk.ErrVersion} {
		binary.LittleEndian.PutUint16(b[4:], version)
		binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(b[:40], crc32.MakeTable(crc32.Castagnoli)))
		if _, ok, err := DecodeCursors(b); ok != (want == nil) || !errors.Is(err, want) {
			t.Errorf("cursors of version %d: %v, %v", version, ok, err)
		}
	}
}

// TestWholeButWrong: files whose checksum holds and that say what can't be.
func TestWholeButWrong(t *testing.T) {
	all := objects(t)
	for _, c := range []struct{ file, old, new string }{
		{"stream.json", `"id": "00`, `"id": "0`},
		{"stream.json", `"id": "00`, `"id": "0g`},
		{"stream.json", `"id": "00`, `"id": "0000`},
		{"stream.json", `"capacity": 65536`, `"capacity": 0`},
		{"stream.json", `"capacity": 65536`, `"capacity": -5`},
		{"stream.json", `"capacity": 65536`, `"capacity": 99999999999999999999`},
		{"stream.json", `"i32"`, `"i33"`},
		{"stream.json", `"qty"`, `"px"`},
		{"stream.json", `"unit": "us"`, `"unit": "min"`},
		{"stream.json", `"schema": {`, `"schema": null, "other": {`},
		{"stream.json", `"max_age": "2160h0m0s"`, `"max_age": "soon"`},
		{"stream.json", `"created_at": "2026`, `"created_at": "26`},
		{"drops.json", `"from": "0"`, `"from": "65536"`},
		{"drops.json", `"from": "65536"`, `"from": "65535"`},
		{"drops.json", `"from": "0"`, `"from": "-1"`},
		{"drops.json", `"to": "65540"`, `"to": "18446744073709551616"`},
		{"drops.json", `"to": "65540"`, `"to": 65540`},
		{"consumer.json", `"risk-1"`, `"../risk"`},
		{"consumer.json", `"risk-1"`, `""`},
	} {
		b := resum([]byte(strings.Replace(string(all[c.file].b), c.old, c.new, 1)))
		if bytes.Equal(b, all[c.file].b) {
			t.Fatalf("%s has no %s", c.file, c.old)
		}
		err := all[c.file].decode(b)
		if !errors.Is(err, disk.ErrCorrupt) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s with %s: %v, want ErrCorrupt that names the file", c.file, c.new, err)
		}
	}
}

func TestID(t *testing.T) {
	id := [16]byte{0: 0xff, 7: 1, 15: 0x0a}
	if got, err := ParseID(FormatID(id)); got != id || err != nil {
		t.Errorf("ParseID(%s) = %x, %v", FormatID(id), got, err)
	}
	for _, s := range []string{"", "00", FormatID(id) + "00", FormatID(id)[1:] + "x", strings.Repeat("é", 16)} {
		if got, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %x", s, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "fills": true, "A-z_0.9": true, "9": true, "_": true, strings.Repeat("n", 64): true,
		"": false, ".": false, "..": false, ".hidden": false, "-x": false, "a/b": false, "a\\b": false, "a b": false, "a\x00": false,
		"é": false, "a:b": false, "a\n": false, strings.Repeat("n", 65): false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}
