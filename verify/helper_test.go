package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// fields is a schema with padding and every width: 45 bytes of values, 48 wide.
func fields(t testing.TB) *schema.Schema {
	t.Helper()
	return theFields()
}

func theFields() *schema.Schema {
	return must(schema.New(schema.Microsecond,
		schema.Field{Name: "px", Kind: schema.I32, Scale: 2}, schema.Field{Name: "id", Kind: schema.U64},
		schema.Field{Name: "sym", Kind: schema.U16}, schema.Field{Name: "side", Kind: schema.U8}, schema.Field{Name: "d", Kind: schema.I8}))
}

// records makes n records whose values tell their number; ts goes back at times.
func records(s *schema.Schema, first, n int) []byte {
	w := s.Width()
	b := make([]byte, n*w)
	for i := range n {
		r, v := b[i*w:], first+i
		schema.PutSeq(r, uint64(v))
		schema.PutTime(r, 1_700_000_000_000_000+int64(v*1000-v%3*1500))
		binary.LittleEndian.PutUint32(r[16:], uint32(-v*7))
		binary.LittleEndian.PutUint64(r[24:], uint64(v)<<60|uint64(v))
		binary.LittleEndian.PutUint16(r[32:], uint16(v*257))
		r[34], r[35] = byte(v), byte(-v)
	}
	return b
}

// A kind of stream that tests are run on.
type kind struct {
	durability stream.Durability
	layout     segment.Layout
	records    int  // appended, in batches of 1 to 5
	closed     bool // or the process died
	retained   int  // records that retention took
	early      bool // a segment was sealed at record 12
}

func (k kind) String() string {
	end := "killed"
	if k.closed {
		end = "closed"
	}
	return fmt.Sprintf("%v,%v,%d,%s,retained=%d,early=%v", k.durability, k.layout, k.records, end, k.retained, k.early)
}

const capacity = 8

func kinds() []kind {
	return []kind{
		{stream.Commit, segment.Columns, 27, true, 0, false},
		{stream.Commit, segment.Columns, 27, false, 0, false},
		{stream.Commit, segment.Rows, 24, true, 8, false},
		{stream.Commit, segment.Columns, 0, true, 0, false},
		{stream.Sealed, segment.Columns, 30, true, 16, false},
		{stream.Sealed, segment.Rows, 21, false, 0, false},
		{stream.Os, segment.Columns, 29, true, 8, false},
		{stream.Os, segment.Columns, 13, false, 0, false},
		{stream.Os, segment.Rows, 3, true, 0, false},
		{stream.Sealed, segment.Columns, 27, true, 0, true},
	}
}

// make makes a stream of the kind and returns its directory and its records.
func (k kind) make(t testing.TB) (dir string, rows []byte) {
	t.Helper()
	return k.makeIn(t.TempDir()), records(fields(t), 0, k.records)
}

// makeIn makes a stream of the kind in a folder of parent.
func (k kind) makeIn(parent string) (dir string) {
	dir = filepath.Join(parent, "s")
	s := theFields()
	st := must(stream.Create(dir, stream.Options{Schema: s, Capacity: capacity, Durability: k.durability, Layout: k.layout,
		Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) }}))
	for at, n := 0, 1; at < k.records; at, n = at+n, n%5+1 {
		n = min(n, k.records-at)
		if k.early && at < 12 {
			n = min(n, 12-at)
		}
		if _, _, err := st.Append(records(s, at, n)); err != nil {
			panic(err)
		}
		if k.early && at+n == 12 {
			check(st.Seal())
		}
	}
	if k.retained > 0 {
		settle(st)
		must(st.Retain(retention.Policy{BeforeSeq: uint64(k.retained)}, false))
	}
	if k.closed {
		check(st.Close())
		return dir
	}
	settle(st)
	died := filepath.Join(parent, "died")
	copyDir(died, dir)
	check(st.Close())
	return died
}

// patience is how long tests wait for what must happen, on the slowest machine.
const patience = 5 * time.Minute

// settle waits until all full segments are sealed, and the writer counts on their
// files.
func settle(st *stream.Stream) {
	for began := time.Now(); must(st.Stats()).Sealing > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			panic("segments are not sealed")
		}
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// copyDir copies the files of a stream as a kill between two of its operations
// leaves them. A live one makes journals ahead, so that it begins again until no
// name has come or gone meanwhile.
func copyDir(to, from string) {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		check(os.RemoveAll(to))
		check(os.MkdirAll(to, 0o750))
		before := names(from)
		if err := copyFiles(to, from, before); err == nil && slices.Equal(names(from), before) {
			return
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) || time.Since(began) > patience {
			panic(fmt.Sprint("the files never stood still: ", err))
		}
	}
}

func copyFiles(to, from string, names []string) error {
	for _, name := range names {
		if strings.HasSuffix(name, ".tmp") {
			return fs.ErrNotExist // soon
		}
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		write(filepath.Join(to, name), b)
	}
	return nil
}

// names lists the regular files of a directory.
func names(dir string) (out []string) {
	for _, e := range must(os.ReadDir(dir)) {
		if e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	return out
}

func write(path string, b []byte) { check(os.WriteFile(path, b, 0o640)) }

// tree is the content of every file under dir.
func tree(dir string) map[string]string {
	m := map[string]string{}
	check(filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			m[must(filepath.Rel(dir, p))] = string(must(os.ReadFile(p)))
		}
		return err
	}))
	return m
}

func report(t testing.TB, dir string) *verify.Report {
	t.Helper()
	r, err := verify.Stream(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// look reports on a stream in memory.
func look(t testing.TB, m memory) *verify.Report {
	t.Helper()
	r, err := verify.StreamOn(context.Background(), m, "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text lists problems and notes, a line each.
func text(r *verify.Report) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, p)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s: %s\n", n.File, n.Detail)
	}
	return b.String()
}

// clean fails the test if the stream has problems.
func clean(t testing.TB, dir string) *verify.Report {
	t.Helper()
	r := report(t, dir)
	if !r.OK {
		t.Fatalf("not clean:\n%s", text(r))
	}
	return r
}

// readAll opens the stream and returns its records and the next number.
func readAll(t testing.TB, dir string) (rows []byte, first, next uint64) {
	t.Helper()
	st, err := stream.Open(dir, stream.OpenOptions{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	v := must(st.Snapshot())
	first, next = uint64(v.First()), uint64(v.End())
	for seq := v.First(); seq < v.End(); seq++ {
		if rows, err = v.Get(rows, seq); err != nil && !errors.Is(err, stream.ErrDropped) {
			t.Fatalf("get %d: %v", seq, err)
		}
	}
	check(v.Close())
	check(st.Close())
	return rows, first, next
}

// unproven tells whether a range is the last frame of a journal that nothing
// proves: it is not synced and no mark stands behind it.
func (k kind) unproven(file string, r verify.Range) bool {
	return !k.closed && k.durability != stream.Commit && strings.HasPrefix(file, "journal") && r.Offset >= 4096
}

func keepRecords(n uint64) retention.Policy { return retention.Policy{KeepRecords: n} }

// laterJSON gives a small file the next version, and its checksum.
func laterJSON(b []byte) []byte {
	b = bytes.Replace(b, []byte(`"version": 1`), []byte(`"version": 2`), 1)
	at := bytes.LastIndex(b, []byte(`"crc": "`)) + len(`"crc": "`)
	sum := crc32.Update(crc32.ChecksumIEEE(b[:at]), crc32.IEEETable, b[at+8:])
	copy(b[at:], fmt.Sprintf("%08x", sum))
	return b
}

// sumCursors puts the checksum into a cursors page.
func sumCursors(b []byte) {
	binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(b[:40], crc32.MakeTable(crc32.Castagnoli)))
}
