package segment

import (
	"context"
	"errors"

	"example.com/ledger/internal/disk"
	"example.com/ledger/schema"
	"github.com/klauspost/crc32"
)

// auditRows is how many records are looked at before the context is asked again.
const auditRows = 1 << 16

// Check proves the whole file right, whatever was checked before: header and
// size as when it was opened, CRCs, the zeros between columns and in padding,
// dense numbers, and that the smallest, largest and sorted values are those of
// the records. It maps the file. All damage that can be told apart is in the
// error, joined; each part is a *CorruptError. Where the file can't be read it
// is disk.ErrFault, and where ctx ends, ctx's error.
//
// A legacy file has no CRC of its header, and one whose writer died none of its
// records: there a changed value can go unseen.
func (f *File) Check(ctx context.Context) error {
	g, err := f.Acquire()
	if err != nil {
		return err
	}
	defer f.Release()
	a := audit{ctx: ctx, f: f, v: g.v}
	err = disk.Guard(func() error {
		if err := f.rereadHeader(g.v); err != nil {
			return err
		}
		if f.h.Layout() == Rows {
			return a.rows(g)
		}
		return a.columns()
	})
	if err != nil {
		a.add(err)
	}
	return errors.Join(a.errs...)
}

// rereadHeader tells whether the mapped header is the one that was opened.
func (f *File) rereadHeader(v *view) error {
	if string(v.data[:HeaderSize]) != string(f.raw[:]) {
		return corrupt(0, "header", "not what it was when the file was opened")
	}
	return nil
}

// An audit collects what is wrong with one file.
type audit struct {
	ctx  context.Context
	f    *File
	v    *view
	errs []error
}

func (a *audit) add(err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, a.ctx.Err()) || a.ctx.Err() == nil {
		err = in(a.f.path, a.f.h.First, a.f.h.End(), err)
	}
	a.errs = append(a.errs, err)
}

// columns audits a column file. An error is what ends it; others are added.
func (a *audit) columns() error {
	v := a.v
	foot, err := a.f.decodeFooter(v.data[v.geo.Footer:])
	if err != nil {
		return err
	}
	end := int64(HeaderSize)
	for c := range v.n {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.add(a.zeros(end, v.geo.Column[c]))
		a.add(a.column(c, foot.Columns[c]))
		end = v.geo.Column[c] + int64(len(v.values(c)))
	}
	a.add(a.zeros(end, v.geo.Footer))
	return nil
}

// zeros audits the bytes between two columns.
func (a *audit) zeros(from, to int64) error {
	for off := from; off < to; off++ {
		if a.v.data[off] != 0 {
			return corrupt(off, "zero", "%#02x between columns", a.v.data[off])
		}
	}
	return nil
}

func (a *audit) column(c int, want ColumnInfo) error {
	v := a.v
	if err := v.checkValues(c, want.CRC); err != nil {
		return err
	}
	kind := columnField(a.f.s, c).Kind
	got := spanOf(v.values(c), kind.Size(), int(v.geo.Count), kind)
	entry := v.geo.Footer + streamEntry + int64(c)*columnEntry
	if got.min != want.Min {
		return corrupt(entry+offMin, "min", "%s is %d, want %d", v.columnName(c), want.Min, got.min)
	}
	if got.max != want.Max {
		return corrupt(entry+offMax, "max", "%s is %d, want %d", v.columnName(c), want.Max, got.max)
	}
	if c == 0 && ascending(v.values(0), int(v.geo.Count)) != a.f.h.Sorted() {
		return corrupt(offFlags, "flags", "%#x, but ts sorted is %v", a.f.h.Flags, !a.f.h.Sorted())
	}
	a.f.checked.Or(checkedColumn(c))
	return nil
}

// rows audits a row file.
func (a *audit) rows(g Segment) error {
	h, width := &a.f.h, a.f.s.Width()
	sum := uint32(0)
	times := empty(schema.I64)
	sorted, last := true, int64(-1<<63)
	for at := 0; at < g.n; at += auditRows {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		n := min(auditRows, g.n-at)
		b := g.rows[at*width : (at+n)*width]
		sum = crc32.Update(sum, crc32.IEEETable, b)
		if err := a.records(b, at); err != nil {
			a.add(err)
		}
		t := column[int64](b[8:], width, n)
		times = widest(times, spanOf(b[8:], width, n, schema.I64))
		for i := range n {
			sorted = sorted && last <= t.At(i)
			last = t.At(i)
		}
	}
	if sum != h.CRC && !(h.Legacy && h.CRC == 0) {
		return corrupt(HeaderSize, "records", "crc %08x, want %08x", sum, h.CRC)
	}
	switch {
	case g.n == 0:
		return nil
	case times.min != h.MinTime:
		return corrupt(offMinTime, "min_ts", "%d, want %d", h.MinTime, times.min)
	case times.max != h.MaxTime:
		return corrupt(offMaxTime, "max_ts", "%d, want %d", h.MaxTime, times.max)
	case !h.Legacy && sorted != h.Sorted():
		return corrupt(offFlags, "flags", "%#x, but ts sorted is %v", h.Flags, sorted)
	}
	a.f.checked.Or(checkedColumn(0))
	return nil
}

// records audits what each record of a row file says for itself: its number and
// its padding. at is the first one's place in the file.
func (a *audit) records(b []byte, at int) error {
	s := a.f.s
	width := s.Width()
	clean := make([]byte, width)
	for i := 0; i*width < len(b); i++ {
		rec := b[i*width : (i+1)*width]
		off := HeaderSize + int64(at+i)*int64(width)
		if want := a.f.h.First + uint64(at+i); schema.Seq(rec) != want {
			return corrupt(off, "seq", "%d, want %d", schema.Seq(rec), want)
		}
		if !s.Padded() || a.f.h.Legacy {
			continue
		}
		copy(clean, rec)
		s.ClearPadding(clean)
		if string(clean) != string(rec) {
			return corrupt(off, "padding", "not zero in record %d", schema.Seq(rec))
		}
	}
	return nil
}

// spanOf returns the smallest and largest of n values, stride bytes apart.
func spanOf(b []byte, stride, n int, k schema.Kind) span {
	switch k {
	case schema.I8:
		return spanAs[int8](b, stride, n)
	case schema.U8:
		return spanAs[uint8](b, stride, n)
	case schema.I16:
		return spanAs[int16](b, stride, n)
	case schema.U16:
		return spanAs[uint16](b, stride, n)
	case schema.I32:
		return spanAs[int32](b, stride, n)
	case schema.U32:
		return spanAs[uint32](b, stride, n)
	case schema.I64:
		return spanAs[int64](b, stride, n)
	}
	return spanAs[uint64](b, stride, n)
}

func spanAs[T Int](b []byte, stride, n int) span {
	c := column[T](b, stride, n)
	lo, hi := c.At(0), c.At(0)
	for i := range n {
		lo, hi = min(lo, c.At(i)), max(hi, c.At(i))
	}
	return span{int64(lo), int64(hi)}
}

// widest returns the span of both; their values are signed.
func widest(a, b span) span { return span{min(a.min, b.min), max(a.max, b.max)} }

// ascending tells whether n times never decrease.
func ascending(b []byte, n int) bool {
	c := column[int64](b, 8, n)
	for i := 1; i < n; i++ {
		if c.At(i) < c.At(i-1) {
			return false
		}
	}
	return true
}
