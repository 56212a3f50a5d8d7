package verify_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/verify"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestInspectGolden pins the bytes of every kind of file, and what they mean. If
// it fails because bytes have moved, files in the field stop opening: add a
// version instead of running -update.
func TestInspectGolden(t *testing.T) {
	for name, b := range goldenFiles(t) {
		t.Run(name, func(t *testing.T) {
			l := must(verify.InspectOn(memory{name: b}, filepath.Join("s", name)))
			tiles(t, name, l)
			if !l.OK() {
				t.Errorf("not right: %+v", l.Ranges)
			}
			var got bytes.Buffer
			for _, r := range l.Ranges {
				hex := fmt.Sprintf("%x", b[r.Offset:r.Offset+r.Length])
				if len(hex) > 32 {
					hex = hex[:29] + "..."
				}
				fmt.Fprintf(&got, "%04d-%04d  %-32s  %-4s %-3s %s", r.Offset, r.Offset+r.Length, hex, r.Class, r.Check, r.Meaning)
				if r.Value != "" {
					fmt.Fprintf(&got, " = %s", r.Value)
				}
				fmt.Fprintln(&got)
			}
			path := filepath.Join("testdata", filepath.Base(name)+".golden")
			if *update {
				check(os.MkdirAll("testdata", 0o750))
				write(path, got.Bytes())
			}
			if want := must(os.ReadFile(path)); !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%swant\n%s", got.Bytes(), want)
			}
		})
	}
}

// goldenFiles makes one file of each kind, always the same.
func goldenFiles(t *testing.T) map[string][]byte {
	s := must(schema.New(schema.Nanosecond, schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "side", Kind: schema.U8}))
	id := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	recs := func(first, n int) []byte {
		b := make([]byte, n*s.Width())
		for i := range n {
			r := b[i*s.Width():]
			schema.PutSeq(r, uint64(first+i))
			schema.PutTime(r, int64(1000+10*i))
			check(s.PutInt(r, 0, int64(-i)))
			check(s.PutUint(r, 1, uint64(i)))
		}
		return b
	}
	files := map[string][]byte{
		"00000000000000000008.seg": must(os.ReadFile("testdata/00000000000000000008.seg")),
		"cursors":                  make([]byte, meta.CursorSize),
	}
	for first, l := range map[int]segment.Layout{16: segment.Columns, 24: segment.Rows} {
		var w segment.Writer
		b, _, err := w.Encode(segment.Meta{ID: id, Capacity: 4, Schema: s}, l, recs(first, 3), 1_700_000_000_000, segment.FlagDurable)
		check(err)
		files[segment.Name(uint64(first))] = bytes.Clone(b)
	}
	meta.Cursors{Generation: 7, ID: id, Durable: 19}.Put(files["cursors"])
	files["cursors"][meta.PublishedAt] = 20
	files["stream.json"] = must(meta.Stream{ID: meta.FormatID(id), Schema: s, Capacity: 4, Durability: "commit", Layout: "columns"}.Encode())
	files["drops.json"] = must(meta.Drops{ID: meta.FormatID(id)}.Add(meta.Drop{From: 0, To: 8, Reason: meta.ReasonRepair}).Encode())

	files["consumers/risk.json"] = must(meta.Consumer{ID: meta.FormatID(id), Name: "risk", Position: 19, Hold: 100, At: time.Unix(1_700_000_000, 0).UTC()}.Encode())
	files["dictionary.json"] = must(os.ReadFile("testdata/dictionary.json"))
	files["imports.json"] = must(os.ReadFile("testdata/imports.json"))

	fsys := sim.New().FS()
	check(fsys.Mkdir("s"))
	check(journal.Make(fsys, "s", 0, 4, s.Width()))
	j := must(journal.Open(fsys, "s", 0, s.Width(), journal.ByWrite, 1))
	check(j.Start(journal.Header{Width: uint16(s.Width()), Generation: 3, First: 27, Salt: 0x1122334455667788, ID: id, Tag: s.Tag(id)}))
	check(j.Records(recs(27, 1), false, 27))
	check(j.Extension([]byte("eight by"), 28))
	check(j.Records(recs(28, 2), true, 28))
	check(j.Mark(true, 30))
	check(j.Close())
	files["journal.0"] = readFile(fsys, "s/journal.0")
	return files
}

func readFile(fsys disk.FS, path string) []byte {
	f := must(fsys.Open(path))
	defer f.Close()
	b := make([]byte, must(f.Size()))
	must(f.ReadAt(b, 0))
	return b
}
