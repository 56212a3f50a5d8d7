package verify_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
	"example.com/ledger/verify"
)

// TestInspectAndEngineAgree: on whole and on damaged sealed files, longer than
// what is read at once too, Inspect and the engine's own check say the same.
func TestInspectAndEngineAgree(t *testing.T) {
	s := theFields()
	id := [16]byte{9}
	rng := rand.New(rand.NewPCG(5, 6))
	good, bad := 0, 0
	for _, l := range []segment.Layout{segment.Columns, segment.Rows} {
		for _, n := range []int{1, 7, 8, 9, 333, 140_001} {
			var w segment.Writer
			image, _, err := w.Encode(segment.Meta{ID: id, Capacity: 1 << 20, Schema: s}, l, records(s, 16, n), 5, 0)
			check(err)
			path := filepath.Join(t.TempDir(), segment.Name(16))
			for i := range 12 {
				b := bytes.Clone(image)
				if i > 0 {
					hurtImage(rng, &b)
				}
				write(path, b)
				want := engineCheck(path, id)
				got := must(verify.Inspect(path))
				tiles(t, path, got)
				if got.OK() != (want == nil) {
					t.Errorf("%v, %d records, damage %d: Inspect %v, the engine %v", l, n, i, got.OK(), want)
				}
				if want == nil {
					good++
				} else {
					bad++
				}
			}
		}
	}
	if good < 12 || bad < 80 {
		t.Fatalf("%d good and %d bad files: the test saw too little", good, bad)
	}
}

func engineCheck(path string, id [16]byte) error {
	s := theFields()
	f, err := segment.Open(disk.OS(), path, s, s.Tag(id))
	if err != nil {
		return err
	}
	defer f.Evict()
	return f.Check(context.Background())
}

// hurtImage changes a bit, zeroes a part, cuts the end or adds one.
func hurtImage(rng *rand.Rand, b *[]byte) {
	at := rng.IntN(len(*b))
	if rng.IntN(2) == 0 {
		at = rng.IntN(min(len(*b), 128))
	}
	switch rng.IntN(6) {
	case 0:
		clear((*b)[at:min(at+512, len(*b))])
	case 1:
		*b = (*b)[:at]
	case 2:
		*b = append(*b, make([]byte, 1+rng.IntN(100))...)
	default:
		(*b)[at] ^= 1 << rng.IntN(8)
	}
}

// TestInspectFindsFlips: in a file of each kind, looked at alone, a flipped bit
// in a byte of class data or meta fails a check. The id of a cursors page is
// proven by stream.json only.
func TestInspectFindsFlips(t *testing.T) {
	for name, b := range goldenFiles(t) {
		path := filepath.Join("s", name)
		for _, r := range must(verify.InspectOn(memory{name: b}, path)).Ranges {
			if name == "cursors" && r.Meaning == "id" {
				continue
			}
			for off := r.Offset; off < r.Offset+r.Length; off++ {
				for bit := range 8 {
					if r.Class == verify.Free && (off+int64(bit))%97 > 0 {
						continue
					}
					if legacyCount := name == seg8 && r.Meaning == "count"; legacyCount && b[off] == 1<<bit {
						continue // a count of 0 is the file's size's
					}
					b[off] ^= 1 << bit
					l := must(verify.InspectOn(memory{name: b}, path))
					b[off] ^= 1 << bit
					if l.OK() != (r.Class == verify.Free) {
						t.Errorf("%s: bit %d of byte %d (%s, %s): ok is %v", name, bit, off, r.Meaning, r.Class, l.OK())
					}
				}
			}
		}
	}
}

// TestLegacyWithoutACount: where the original engine died before it wrote the
// count, the records are counted from the size, and a CRC that is there is
// checked.
func TestLegacyWithoutACount(t *testing.T) {
	whole := goldenFiles(t)[seg8]
	for _, tt := range []struct {
		name string
		do   func(b []byte) []byte
		ok   bool
	}{
		{"with its crc", func(b []byte) []byte { return b }, true},
		{"with a part of a record", func(b []byte) []byte { return append(b[:104:104], 1, 2, 3) }, false},
		{"with another crc", func(b []byte) []byte { b[40] ^= 1; return b }, false},
		{"without a crc, and a part of a record", func(b []byte) []byte {
			clear(b[40:44])
			return append(b, 1, 2, 3)
		}, true},
		{"without records", func(b []byte) []byte { clear(b[24:44]); return b[:64] }, true},
	} {
		b := bytes.Clone(whole)
		clear(b[16:24])
		l := must(verify.InspectOn(memory{seg8: tt.do(b)}, filepath.Join("s", seg8)))
		tiles(t, tt.name, l)
		if l.OK() != tt.ok {
			t.Errorf("%s: ok is %v: %+v", tt.name, l.OK(), l.Ranges)
		}
	}
}
