package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A wound is what a damage test does to the files of wounded.
type wound struct {
	name  string
	modes []Durability
	hurt  func(t *testing.T, d *sim.Disk)
	want  string // what a reader sees: ranges read, and the errors in between
	open  error  // of a writer; nil if it recovers all that a reader saw
}

// flip changes one bit of a file.
func flip(t *testing.T, d *sim.Disk, name string, off int64) {
	t.Helper()
	f, err := d.FS().OpenRW(filepath.Join("/s", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b[:], off); err != nil {
		t.Fatal(err)
	}
}

// journalOf returns the name of the journal whose segment begins at first.
func journalOf(t *testing.T, d *sim.Disk, first uint64) string {
	t.Helper()
	for n := range journal.Ring {
		b, err := readWhole(d.FS(), filepath.Join("/s", journal.Name(n)), 1<<20)
		if err != nil {
			continue
		}
		if h, ok, _ := journal.DecodeHeaders(b); ok && h.First == first {
			return journal.Name(n)
		}
	}
	t.Fatalf("no journal begins at %d", first)
	return ""
}

func unlink(t *testing.T, d *sim.Disk, name string) {
	t.Helper()
	if err := d.FS().Remove(filepath.Join("/s", name)); err != nil {
		t.Fatal(err)
	}
}

// frameOf is the offset of batch k, of two records, in a journal.
func frameOf(k int) int64 {
	return journal.FramesAt + int64(k)*int64(journal.FrameSize+2*stampSchema.Width())
}

var wounds = []wound{
	{name: "nothing", modes: modes, hurt: func(*testing.T, *sim.Disk) {}, want: "[0,4) [4,8) [8,11)"},
	{name: "value of a sealed file", modes: []Durability{Commit, Sealed}, want: "corrupt [0,4) [4,8) [8,11)",
		hurt: func(t *testing.T, d *sim.Disk) { flip(t, d, segment.Name(0), 64+8) }},
	{name: "value of a file that was not synced", modes: []Durability{Os}, want: "[0,4) [4,8) [8,11)", // its journal has it
		hurt: func(t *testing.T, d *sim.Disk) { flip(t, d, segment.Name(0), 64+8) }},
	{name: "header of a sealed file", modes: []Durability{Commit, Sealed}, want: "corrupt [0,4) [4,8) [8,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) { freeJournals(t, d); flip(t, d, segment.Name(0), 16) }},
	{name: "no first sealed file", modes: []Durability{Commit, Sealed}, want: "corrupt [0,4) [4,8) [8,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) { freeJournals(t, d); unlink(t, d, segment.Name(0)) }},
	{name: "no second sealed file", modes: []Durability{Commit, Sealed}, want: "[0,4) corrupt [4,8) [8,10) [10,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) { freeJournals(t, d); unlink(t, d, segment.Name(4)) }},
	{name: "empty sealed file", modes: []Durability{Commit, Sealed}, want: "[0,4) corrupt [4,8) [8,10) [10,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) {
			freeJournals(t, d)
			f := must[disk.File](t)(d.FS().Create(filepath.Join("/s", segment.Name(4))))
			_ = f.Close()
		}},
	{name: "no file, but the journal", modes: modes, want: "[0,4) [4,8) [8,11)",
		hurt: func(t *testing.T, d *sim.Disk) { unlink(t, d, segment.Name(0)); unlink(t, d, segment.Name(4)) }},
	{name: "no first file, but its journal", modes: modes, want: "[0,4) [4,8) [8,11)",
		hurt: func(t *testing.T, d *sim.Disk) { unlink(t, d, segment.Name(0)) }},
	{name: "first frame of the journal", modes: []Durability{Commit}, want: "[0,4) [4,8) corrupt [8,10) [10,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) { flip(t, d, journalOf(t, d, 8), frameOf(0)+40) }},
	{name: "second frame of the journal", modes: []Durability{Commit}, want: "[0,4) [4,8) [8,10) corrupt [10,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) { flip(t, d, journalOf(t, d, 8), frameOf(1)+40) }},
	{name: "no journals", modes: []Durability{Commit}, want: "[0,4) [4,8) corrupt [8,11)", open: ErrCorrupt,
		hurt: func(t *testing.T, d *sim.Disk) {
			for n := range journal.Ring {
				_ = d.FS().Remove(filepath.Join("/s", journal.Name(n)))
			}
		}},
	{name: "cursors", modes: modes, want: "[0,4) [4,8) [8,11)",
		hurt: func(t *testing.T, d *sim.Disk) { flip(t, d, meta.CursorFile, 3) }},
	{name: "no cursors", modes: modes, want: "[0,4) [4,8) [8,11)",
		hurt: func(t *testing.T, d *sim.Disk) { unlink(t, d, meta.CursorFile) }},
}

// wounded makes a stream and kills its writer: capacity 4, batches of 2, records
// [0, 4) and [4, 8) sealed and still in their journals, [8, 11) in a third one.
func wounded(t *testing.T, mode Durability) *sim.Disk {
	d, s := onSim(t, mode, 4)
	goOn := make(chan struct{})
	d.SetHook(func(op sim.Op) error {
		if op.Kind == sim.OpCreate && strings.HasSuffix(op.Path, ".seg.tmp") {
			<-goOn
		}
		return nil
	})
	put(t, s, 2, 2, 2, 2, 2, 1)
	close(goOn)
	settle(t, s)
	d.Crash()
	_ = s.Close() // of a dead process
	return d.Kill()
}

// freeJournals zeroes the journals of what is sealed, as if they had been used again.
func freeJournals(t *testing.T, d *sim.Disk) {
	for _, first := range []uint64{0, 4} {
		if err := zeroHeaders(d.FS(), filepath.Join("/s", journalOf(t, d, first)), 4096); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReaderOfDamage: a reader opens a damaged stream, reads what is right, and
// names what is not; it changes nothing. A writer refuses what has lost
// acknowledged records, and changes nothing either.
func TestReaderOfDamage(t *testing.T) {
	for _, w := range wounds {
		for _, mode := range w.modes {
			t.Run(w.name+"/"+mode.String(), func(t *testing.T) {
				d := wounded(t, mode)
				w.hurt(t, d)
				before := listing(t, d)
				r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
				if got := see(t, r); got != w.want {
					t.Errorf("the reader sees %s, want %s", got, w.want)
				}
				r.Close()
				again, err := OpenOn(d.FS(), "/s", OpenOptions{})
				if !errors.Is(err, w.open) {
					t.Errorf("a writer: %v, want %v", err, w.open)
				}
				if err != nil {
					if after := listing(t, d); !slices.Equal(after, before) {
						t.Errorf("the files were %v, they are %v", before, after)
					}
					return
				}
				defer again.Close()
				if got := Seq(11); again.Cursors().Appended != got {
					t.Errorf("the writer goes on at %d, want %d", again.Cursors().Appended, got)
				}
			})
		}
	}
}

// see tells what a reader sees from record 0 on: it goes on behind errors that
// end a loop.
func see(t *testing.T, r *Reader) string {
	t.Helper()
	n := must[*Snapshot](t)(r.Snapshot())
	defer n.Close()
	out := ""
	from := Seq(0)
	for from < n.End() {
		at := from
		for b, err := range n.Range(from, n.End()) {
			var rows []byte
			if err == nil {
				rows, err = b.Rows(nil)
			}
			if bad, ok := errors.AsType[*CorruptError](err); ok {
				if bad.To <= bad.From {
					t.Fatalf("at %d: the error names no records: %v", at, err)
				}
				out += fmt.Sprintf(" corrupt [%d,%d)", bad.From, bad.To)
				at = Seq(bad.To)
				break
			}
			if err != nil {
				t.Fatalf("at %d: %v", at, err)
			}
			for i := range b.Len() {
				rec := rows[i*stampSchema.Width():]
				first, n := binary.LittleEndian.Uint64(rec[16:]), binary.LittleEndian.Uint32(rec[24:])
				if seq := schema.Seq(rec); seq != uint64(b.First())+uint64(i) || binary.LittleEndian.Uint32(rec[28:]) != stampSum(seq, first, n) {
					t.Fatalf("record %d is %x", int(b.First())+i, rec[:stampSchema.Width()])
				}
			}
			out += fmt.Sprintf(" [%d,%d)", b.First(), b.End())
			at = b.End()
		}
		if at == from {
			t.Fatalf("reading from %d ends there", from)
		}
		from = at
	}
	return out[1:]
}

// listing tells the names, sizes and bytes of a stream's files on a model disk.
func listing(t *testing.T, d *sim.Disk) []string {
	t.Helper()
	var out []string
	entries, err := d.FS().ReadDir("/s")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := readWhole(d.FS(), filepath.Join("/s", e.Name), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %d %08x", e.Name, len(b), stampSum(uint64(len(b)), crcOf(b), 0)))
	}
	return out
}

func crcOf(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) }

// TestReaderOfNothing: what can't be a stream is refused, with the reason.
func TestReaderOfNothing(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	put(t, s, 8, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		hurt func(d *sim.Disk)
		want error
	}{
		{"no stream.json", func(d *sim.Disk) { unlink(t, d, meta.StreamFile) }, ErrNotFound},
		{"stream.json", func(d *sim.Disk) { flip(t, d, meta.StreamFile, 40) }, ErrCorrupt},
		{"drops.json", func(d *sim.Disk) {
			f := must[disk.File](t)(d.FS().Create(filepath.Join("/s", meta.DropsFile)))
			defer f.Close()
			if _, err := f.WriteAt([]byte("{}"), 0); err != nil {
				t.Fatal(err)
			}
		}, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := d.Kill()
			c.hurt(d)
			before := listing(t, d)
			if _, err := OpenReaderOn(d.FS(), "/s"); !errors.Is(err, c.want) {
				t.Errorf("OpenReader: %v, want %v", err, c.want)
			}
			if _, err := OpenOn(d.FS(), "/s", OpenOptions{}); !errors.Is(err, c.want) {
				t.Errorf("Open: %v, want %v", err, c.want)
			}
			if after := listing(t, d); !slices.Equal(after, before) {
				t.Errorf("the files were %v, they are %v", before, after)
			}
		})
	}
	if _, err := OpenReaderOn(d.FS(), "/nothing"); !errors.Is(err, ErrNotFound) {
		t.Errorf("OpenReader of nothing: %v, want ErrNotFound", err)
	}
}
