package exporter

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	parquetgo "github.com/parquet-go/parquet-go"

	"example.com/ledger/arrow"
	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

func every(t testing.TB, u schema.Unit) *schema.Schema {
	s, err := schema.New(u,
		schema.Field{Name: "a", Kind: schema.I8},
		schema.Field{Name: "b", Kind: schema.U8},
		schema.Field{Name: "c", Kind: schema.I16},
		schema.Field{Name: "d", Kind: schema.U16},
		schema.Field{Name: "e", Kind: schema.I32},
		schema.Field{Name: "f", Kind: schema.U32},
		schema.Field{Name: "g", Kind: schema.I64},
		schema.Field{Name: "h", Kind: schema.U64},
		schema.Field{Name: "i", Kind: schema.I8, Scale: 5},
		schema.Field{Name: "j", Kind: schema.U16, Scale: 1},
		schema.Field{Name: "k", Kind: schema.I32, Scale: 2},
		schema.Field{Name: "l", Kind: schema.I64, Scale: 18},
		schema.Field{Name: "m", Kind: schema.U64, Scale: 9},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// records makes n records numbered from first on, with values from the whole range
// of each kind and times that go back.
func records(s *schema.Schema, first uint64, n int) []byte {
	b := make([]byte, n*s.Width())
	for i := range n {
		rec := b[i*s.Width() : (i+1)*s.Width()]
		seq := first + uint64(i)
		x := seq * 0x9E3779B97F4A7C15
		schema.PutSeq(rec, seq)
		schema.PutTime(rec, 1_790_000_000_000_000_000+int64(seq)*1000-int64(x%3)*1500)
		for f := range s.NumFields() {
			for j := range s.Field(f).Kind.Size() {
				rec[s.Offset(f)+j] = byte(x >> (8 * j))
			}
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	return b
}

// want returns the value of a column as an unscaled integer: columns are seq, ts,
// and the fields.
func want(s *schema.Schema, rec []byte, column int) *big.Int {
	switch {
	case column == 0:
		return new(big.Int).SetUint64(schema.Seq(rec))
	case column == 1:
		return big.NewInt(schema.Time(rec))
	case s.Field(column-2).Kind == schema.U64:
		return new(big.Int).SetUint64(s.Uint(rec, column-2))
	}
	return big.NewInt(s.Int(rec, column-2))
}

// same compares a value of record i with what was appended.
func same(t testing.TB, s *schema.Schema, recs []byte, i, column int, got *big.Int) {
	t.Helper()
	if w := want(s, recs[i*s.Width():], column); got.Cmp(w) != 0 {
		t.Fatalf("row %d, column %d: %v, want %v", i, column, got, w)
	}
}

// write gives a sink the records in blocks, every second one by positions.
func write(t testing.TB, sink Sink, s *schema.Schema, recs []byte) {
	t.Helper()
	const block = 700
	for at, n := 0, 0; at < len(recs); n++ {
		part := recs[at:min(at+block*s.Width(), len(recs))]
		g := segment.FromRows(s, schema.Seq(part), part)
		var all []uint32
		if n%2 == 1 {
			for i := range g.Len() {
				all = append(all, uint32(i))
			}
		}
		if err := sink.Write(g, all); err != nil {
			t.Fatal(err)
		}
		at += len(part)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// value returns a value of an Arrow array as an unscaled integer.
func value(t testing.TB, a apache.Array, i int) *big.Int {
	t.Helper()
	switch a := a.(type) {
	case *array.Int8:
		return big.NewInt(int64(a.Value(i)))
	case *array.Uint8:
		return big.NewInt(int64(a.Value(i)))
	case *array.Int16:
		return big.NewInt(int64(a.Value(i)))
	case *array.Uint16:
		return big.NewInt(int64(a.Value(i)))
	case *array.Int32:
		return big.NewInt(int64(a.Value(i)))
	case *array.Uint32:
		return big.NewInt(int64(a.Value(i)))
	case *array.Int64:
		return big.NewInt(a.Value(i))
	case *array.Uint64:
		return new(big.Int).SetUint64(a.Value(i))
	case *array.Timestamp:
		return big.NewInt(int64(a.Value(i)))
	case *array.Decimal128:
		// Its own BigInt takes the low half for one word, which has 32 bits on some machines.
		hi := new(big.Int).Lsh(big.NewInt(a.Value(i).HighBits()), 64)
		return hi.Add(hi, new(big.Int).SetUint64(a.Value(i).LowBits()))
	}
	t.Fatalf("array of %v", a.DataType())
	return nil
}

// count is enough for a column's dictionary to be given up.
const firstSeq, count = 5, 10000

func TestArrowFile(t *testing.T) {
	s := every(t, schema.Microsecond)
	recs := records(s, firstSeq, count)
	var b bytes.Buffer
	sink, err := NewArrow(&b, s, arrow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, sink, s, recs)
	r, err := ipc.NewFileReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row := 0
	for k := range r.NumRecords() {
		batch, err := r.RecordBatchAt(k)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			for c := range int(batch.NumCols()) {
				same(t, s, recs, row, c, value(t, batch.Column(c), i))
			}
			row++
		}
		batch.Release()
	}
	if row != count {
		t.Errorf("%d rows, want %d", row, count)
	}
}

// parquetOf writes records as Parquet.
func parquetOf(t testing.TB, s *schema.Schema, recs []byte) []byte {
	var b bytes.Buffer
	sink, err := NewParquet(&b, s, arrow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, sink, s, recs)
	return b.Bytes()
}

func TestParquetByItsOwnReader(t *testing.T) {
	for _, u := range []schema.Unit{schema.Nanosecond, schema.Microsecond, schema.Millisecond} {
		s := every(t, u)
		recs := records(s, firstSeq, count)
		r, err := file.NewParquetReader(bytes.NewReader(parquetOf(t, s, recs)))
		if err != nil {
			t.Fatal(err)
		}
		fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		table, err := fr.ReadTable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conv, err := arrow.NewConverter(s, arrow.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for c := range int(table.NumCols()) {
			if got, want := table.Schema().Field(c), conv.Schema().Field(c); got.Name != want.Name || !apache.TypeEqual(got.Type, want.Type) {
				t.Errorf("column %v, want %v", got, want)
			}
			row := 0
			for _, chunk := range table.Column(c).Data().Chunks() {
				for i := range chunk.Len() {
					same(t, s, recs, row, c, value(t, chunk, i))
					row++
				}
			}
			if row != count {
				t.Errorf("column %d has %d rows, want %d", c, row, count)
			}
		}
		table.Release()
	}
}

// TestParquetByAnotherReader: a library that has nothing in common with the one
// that wrote the file reads the same values, under the same logical types.
func TestParquetByAnotherReader(t *testing.T) {
	s := every(t, schema.Nanosecond)
	recs := records(s, firstSeq, count)
	b := parquetOf(t, s, recs)
	f, err := parquetgo.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, field := range f.Schema().Fields() {
		if !field.Required() {
			t.Errorf("%s may be null", field.Name())
		}
		types = append(types, field.Name()+":"+field.Type().String())
	}
	wantTypes := "seq:INT(64,false) ts:TIMESTAMP(isAdjustedToUTC=true,unit=NANOS) a:INT(8,true) b:INT(8,false) c:INT(16,true) d:INT(16,false) " +
		"e:INT(32,true) f:INT(32,false) g:INT(64,true) h:INT(64,false) i:DECIMAL(5,5) j:DECIMAL(5,1) k:DECIMAL(10,2) l:DECIMAL(19,18) m:DECIMAL(20,9)"
	if got := strings.Join(types, " "); got != wantTypes {
		t.Errorf("types\n%s\nwant\n%s", got, wantTypes)
	}
	row := 0
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquetgo.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				for c, v := range r {
					same(t, s, recs, row, c, parquetValue(s, c, v))
				}
				row++
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if row != count {
		t.Errorf("%d rows, want %d", row, count)
	}
}

// parquetValue is a value of the other library as an unscaled integer.
func parquetValue(s *schema.Schema, column int, v parquetgo.Value) *big.Int {
	unsigned := column == 0 || column > 1 && !s.Field(column-2).Kind.Signed()
	switch v.Kind() {
	case parquetgo.Int32:
		if unsigned {
			return big.NewInt(int64(v.Uint32()))
		}
		return big.NewInt(int64(v.Int32()))
	case parquetgo.Int64:
		if unsigned {
			return new(big.Int).SetUint64(v.Uint64())
		}
		return big.NewInt(v.Int64())
	}
	b := v.ByteArray() // big-endian, two's complement
	x := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func TestRawSegment(t *testing.T) {
	s := every(t, schema.Nanosecond)
	recs := records(s, firstSeq, count)
	path := filepath.Join(t.TempDir(), segment.Name(firstSeq))
	m := segment.Meta{ID: [16]byte{9}, Capacity: 64, Schema: s}
	if err := File(path, func(w io.Writer) error {
		sink := NewSegment(w, m, 1234)
		write(t, sink, s, recs)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f, got, err := segment.OpenSelf(disk.OS(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Evict()
	if got.ID != m.ID || !got.Schema.Equal(s) || f.Header().SealedAt != 1234 {
		t.Errorf("the file says %v, %+v", got, f.Header())
	}
	if err := f.Check(t.Context()); err != nil {
		t.Error(err)
	}
	g, err := f.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	back, err := g.Rows(nil, 0, g.Len())
	if err != nil {
		t.Fatal(err)
	}
	s.ClearPadding(recs)
	if !bytes.Equal(back, recs) {
		t.Error("other records came back")
	}
}

func TestRawSegmentRefuses(t *testing.T) {
	s := every(t, schema.Nanosecond)
	for name, parts := range map[string][][]byte{
		"nothing": nil,
		"a gap":   {records(s, 0, 3), records(s, 4, 3)},
		"twice":   {records(s, 0, 3), records(s, 2, 3)},
	} {
		var b bytes.Buffer
		sink := NewSegment(&b, segment.Meta{Schema: s}, 0)
		var err error
		for _, p := range parts {
			err = errors.Join(err, sink.Write(segment.FromRows(s, schema.Seq(p), p), nil))
		}
		if err = errors.Join(err, sink.Close()); !errors.Is(err, ErrSegment) || b.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want ErrSegment and none", name, err, b.Len())
		}
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"a.csv": CSV, "b/c.JSONL": JSONL, "x.y.arrow": Arrow, "p.parquet": Parquet, "q.seg": Segment} {
		if f, err := FormatOf(path); f != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", path, f, err, want)
		}
	}
	for _, path := range []string{"", "csv", "a.json", "a.csv.gz", "a.parquet/b"} {
		if f, err := FormatOf(path); !errors.Is(err, ErrFormat) {
			t.Errorf("%q is %q, %v, want ErrFormat", path, f, err)
		}
	}
}

// TestFileIsWholeOrNothing: until all is written what was there stays, and after
// an error nothing is left.
func TestFileIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	one := func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }
	if err := File(path, one); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := File(path, func(w io.Writer) error {
		if b, err := os.ReadFile(path); err != nil || string(b) != "one" {
			t.Errorf("while writing the file holds %q, %v", b, err)
		}
		return errors.Join(one(w), failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want the writer's", err)
	}
	if err := File(path, func(w io.Writer) error { _, err := w.Write(make([]byte, 3<<20)); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 3<<20 {
		t.Errorf("the file is %v, %v", info, err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("the directory holds %v, %v", names, err)
	}
}

func TestFileRefuses(t *testing.T) {
	dir := t.TempDir()
	unused := func(io.Writer) error { t.Error("it writes"); return nil }
	if err := File(dir, unused); !errors.Is(err, ErrTarget) {
		t.Errorf("a directory: %v, want ErrTarget", err)
	}
	if err := File(filepath.Join(dir, "none", "a.csv"), unused); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v, want ErrNotExist", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stream.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := File(filepath.Join(dir, "a.seg"), unused); !errors.Is(err, ErrTarget) {
		t.Errorf("a stream's directory: %v, want ErrTarget", err)
	}
}
