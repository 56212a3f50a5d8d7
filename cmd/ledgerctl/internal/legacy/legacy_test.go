package legacy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// file writes a legacy segment of n fills from first on, with count in its
// header: 0 where the writer died.
func file(t *testing.T, dir string, first, n int, died bool) (rows []byte) {
	t.Helper()
	for i := range n {
		r := make([]byte, 40)
		schema.PutSeq(r, uint64(first+i))
		schema.PutTime(r, 1_791_800_000_000_000+int64(first+i))
		binary.LittleEndian.PutUint32(r[16:], uint32(6_412_350+i))
		rows = append(rows, r...)
	}
	h := make([]byte, 64)
	copy(h, "OXLS")
	binary.LittleEndian.PutUint16(h[4:], 1)
	binary.LittleEndian.PutUint16(h[6:], 40)
	binary.LittleEndian.PutUint64(h[8:], uint64(first))
	if !died {
		binary.LittleEndian.PutUint64(h[16:], uint64(n))
		binary.LittleEndian.PutUint64(h[24:], 1_791_800_000_000_000+uint64(first))
		binary.LittleEndian.PutUint64(h[32:], 1_791_800_000_000_000+uint64(first+n-1))
		binary.LittleEndian.PutUint32(h[40:], crc32.ChecksumIEEE(rows))
	}
	path := filepath.Join(dir, fmt.Sprintf("%020d.seg", first))
	if err := os.WriteFile(path, append(h, rows...), 0o640); err != nil {
		t.Fatal(err)
	}
	return rows
}

func options(t *testing.T) stream.Options {
	t.Helper()
	s, err := shapes.FillSchema().WithUnit(schema.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	return stream.Options{Schema: s, Capacity: 4}
}

func read(t *testing.T, dir string) (first, end stream.Seq, rows []byte) {
	t.Helper()
	r, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for b, err := range n.Range(n.First(), n.End()) {
		if err == nil {
			rows, err = b.Rows(rows)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return n.First(), n.End(), rows
}

// TestRollBug is what the original engine lost: at a roll its process died
// between the new file's first records and the old file's header, so that the
// first file's count is still 0. All six records come in.
func TestRollBug(t *testing.T) {
	old := t.TempDir()
	want := append(file(t, old, 0, 4, true), file(t, old, 4, 2, false)...)
	dir := filepath.Join(t.TempDir(), "s")
	r, err := Import(context.Background(), dir, []string{old}, options(t), false)
	if err != nil {
		t.Fatal(err)
	}
	if r.Records != 6 || r.Appended != 6 || len(r.Counted) != 1 {
		t.Fatalf("report %+v, want 6 records, 1 file counted", r)
	}
	if first, end, got := read(t, dir); first != 0 || end != 6 || !bytes.Equal(got, want) {
		t.Fatalf("[%d, %d) %x, want [0, 6) %x", first, end, got, want)
	}
}

func TestImport(t *testing.T) {
	old := t.TempDir()
	want := append(file(t, old, 8, 5, false), file(t, old, 13, 3, true)...)
	dir := filepath.Join(t.TempDir(), "s")
	o := options(t)
	if r, err := Import(context.Background(), dir, []string{old}, o, true); err != nil || r.Records != 8 || r.Appended != 0 {
		t.Fatalf("dry run: %+v, %v", r, err)
	}
	if _, err := stream.OpenReader(dir); !errors.Is(err, stream.ErrNotFound) {
		t.Fatalf("after a dry run: %v, want no stream", err)
	}
	// The first file alone, as an import that was interrupted; then both.
	if _, err := Import(context.Background(), dir, []string{filepath.Join(old, "00000000000000000008.seg")}, o, false); err != nil {
		t.Fatal(err)
	}
	r, err := Import(context.Background(), dir, []string{old}, o, false)
	if err != nil || r.There != 5 || r.Appended != 3 {
		t.Fatalf("second import: %+v, %v; want 5 there, 3 appended", r, err)
	}
	if first, end, got := read(t, dir); first != 8 || end != 16 || !bytes.Equal(got, want) {
		t.Fatalf("[%d, %d) %x, want [8, 16) %x", first, end, got, want)
	}
	file(t, old, 17, 1, false) // 16 is missing
	var gap *stream.CorruptError
	if _, err := Import(context.Background(), dir, []string{old}, o, false); !errors.As(err, &gap) || gap.From != 16 || gap.To != 17 {
		t.Fatalf("a gap: %v, want one of [16, 17)", err)
	}
	other := t.TempDir()
	b := file(t, other, 8, 8, false)
	b[20] ^= 1 // another record 8
	h, err := os.ReadFile(filepath.Join(other, "00000000000000000008.seg"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(h[40:], crc32.ChecksumIEEE(b))
	if err := os.WriteFile(filepath.Join(other, "00000000000000000008.seg"), append(h[:64], b...), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(context.Background(), dir, []string{other}, o, false); err == nil {
		t.Fatal("another record under a number that is there was taken")
	}
	if _, err := Import(context.Background(), dir, []string{t.TempDir()}, o, false); err == nil {
		t.Fatal("an empty directory was taken")
	}
}

// TestGolden imports a real segment of the original engine.
func TestGolden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	golden := filepath.Join("..", "..", "..", "..", "segment", "testdata", "golden", "00000000000000000008.seg")
	r, err := Import(context.Background(), dir, []string{golden}, options(t), false)
	if err != nil || r.First != 8 || r.Next != 10 {
		t.Fatalf("%+v, %v; want records 8 and 9", r, err)
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, got := read(t, dir); !bytes.Equal(got, b[64:]) {
		t.Fatalf("%x, want %x", got, b[64:])
	}
}
