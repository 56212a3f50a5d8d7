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
	"example.com/ledger/retention"
	"example.com/ledger/segment"
)

// rewriteFile replaces the bytes of a file by what edit makes of them.
func rewriteFile(t *testing.T, d *sim.Disk, name string, edit func(b []byte) []byte) {
	t.Helper()
	path := filepath.Join("/s", name)
	b := must[[]byte](t)(readWhole(d.FS(), path, 1<<20))
	f := must[disk.File](t)(d.FS().Create(path))
	defer f.Close()
	if _, err := f.WriteAt(edit(slices.Clone(b)), 0); err != nil {
		t.Fatal(err)
	}
}

// TestForeignFiles: names that are not the stream's are never read, changed or
// removed, however near they come.
func TestForeignFiles(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	put(t, s, 8, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := []string{".DS_Store", "journal.4", "journal.00", "journal", "journal.0.bak", "0.seg", "000000000000000000000.seg",
		"00000000000000000000.seg.bak", "-0000000000000000001.seg", "99999999999999999999.seg", "x.tmp", "stream.json.old", "drops", "cursors.1", "LOST"}
	for _, name := range foreign {
		f := must[disk.File](t)(d.FS().Create(filepath.Join("/s", name)))
		if _, err := f.WriteAt([]byte("not ours: "+name), 0); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	folders := []string{"00000000000000000100.seg", "00000000000000000104.seg.tmp", "lost+found"}
	for _, name := range folders {
		if err := d.FS().Mkdir(filepath.Join("/s", name)); err != nil {
			t.Fatal(err)
		}
	}
	s = must[*Stream](t)(OpenOn(d.FS(), "/s", OpenOptions{}))
	put(t, s, 8, 3)
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 12}, false))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d.Crash()
	d = d.Kill()
	recovers(t, d, 20, "after a kill")
	for _, name := range foreign {
		b, err := readWhole(d.FS(), filepath.Join("/s", name), 1<<10)
		if err != nil || string(b) != "not ours: "+name {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	for _, name := range folders {
		if e, err := d.FS().Stat(filepath.Join("/s", name)); err != nil || !e.Dir {
			t.Errorf("folder %s: %+v, %v", name, e, err)
		}
	}
}

// TestNewerVersions: whatever a later release wrote is refused with ErrVersion,
// by writers and readers, and not touched.
func TestNewerVersions(t *testing.T) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for _, c := range []struct {
		name, file string
		edit       func(b []byte) []byte
	}{
		{"stream.json", meta.StreamFile, func(b []byte) []byte {
			b = []byte(strings.Replace(string(b), `"version": 1`, `"version": 2`, 1))
			const key = `"crc": "`
			at := strings.LastIndex(string(b), key) + len(key)
			sum := crc32.Update(crc32.ChecksumIEEE(b[:at]), crc32.IEEETable, b[at+8:])
			copy(b[at:], fmt.Sprintf("%08x", sum))
			return b
		}},
		{"segment", segment.Name(0), func(b []byte) []byte {
			binary.LittleEndian.PutUint16(b[4:], 3)
			binary.LittleEndian.PutUint32(b[60:], crc32.ChecksumIEEE(b[:60]))
			return b
		}},
		{"journal", "", func(b []byte) []byte {
			for _, at := range []int{0, journal.HeaderCopy} {
				binary.LittleEndian.PutUint16(b[at+4:], 2)
				binary.LittleEndian.PutUint32(b[at+64:], crc32.Checksum(b[at:at+64], castagnoli))
			}
			return b
		}},
		{"frame", "", func(b []byte) []byte {
			h, _, _ := journal.DecodeHeaders(b)
			var salt [8]byte
			binary.LittleEndian.PutUint64(salt[:], h.Salt)
			at := journal.FramesAt
			binary.LittleEndian.PutUint32(b[at+4:], 1|4<<28)
			sum := crc32.Update(crc32.Checksum(salt[:], castagnoli), castagnoli, b[at+4:at+journal.FrameSize+8])
			binary.LittleEndian.PutUint32(b[at:], sum)
			return b
		}},
		{"cursors", meta.CursorFile, func(b []byte) []byte {
			binary.LittleEndian.PutUint16(b[4:], 2)
			binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(b[:40], castagnoli))
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := wounded(t, Sealed)
			if c.file == "" {
				c.file = journalOf(t, d, 8)
			}
			rewriteFile(t, d, c.file, c.edit)
			before := listing(t, d)
			if s, err := OpenOn(d.FS(), "/s", OpenOptions{}); !errors.Is(err, ErrVersion) {
				t.Errorf("Open: %v, %v; want ErrVersion", s, err)
			}
			if _, err := OpenReaderOn(d.FS(), "/s"); !errors.Is(err, ErrVersion) {
				t.Errorf("OpenReader: %v, want ErrVersion", err)
			}
			if after := listing(t, d); !slices.Equal(after, before) {
				t.Errorf("the files were %v, they are %v", before, after)
			}
		})
	}
}
