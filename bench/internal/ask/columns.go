package ask

import (
	"errors"
	"path/filepath"
	"unsafe"

	"example.com/ledger/bench/internal/simd"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// Floor is the kind that adds up the bytes that a question needs, and nothing
// more. Its answers aren't any.
const Floor = "floor: SIMD sum of the same bytes"

func init() {
	register(Kind{Name: Floor, Floor: true, Needs: "Ledger", Single: true, Open: openFloor})
}

// columns are the fields of a sealed stream, segment by segment, as slices of
// its mapped files.
type columns struct {
	r       *stream.Reader
	v       *stream.Snapshot
	parts   []stream.Part
	ts      [][]int64
	px, qty [][]int32
	taker   [][]uint32
	sym     [][]uint16
	side    [][]uint8
}

func openColumns(dir string, n uint64) (*columns, error) {
	r, err := stream.OpenReader(filepath.Join(dir, "ledger"))
	if err != nil {
		return nil, err
	}
	v, err := r.Snapshot()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	c := &columns{r: r, v: v}
	for p, err := range v.Parts(0, stream.Seq(n)) {
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		g, err := p.Acquire()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.parts = append(c.parts, p)
		err = errors.Join(column(&c.ts, g, "ts"), column(&c.px, g, "px"), column(&c.qty, g, "qty"),
			column(&c.taker, g, "taker"), column(&c.sym, g, "sym"), column(&c.side, g, "side"))
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func column[T segment.Int](to *[][]T, g segment.Segment, name string) error {
	c, err := segment.ColumnOf[T](g, name)
	if err != nil {
		return err
	}
	s, ok := c.Slice()
	if !ok {
		return errors.New("the segment is not in columns")
	}
	*to = append(*to, s)
	return nil
}

func (c *columns) Close() error {
	for _, p := range c.parts {
		p.Release()
	}
	return errors.Join(c.v.Close(), c.r.Close())
}

func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

type floor struct {
	*columns
	sum      uint32
	from, to int64
}

func openFloor(dir string, n uint64, _ int) (Engine, error) {
	c, err := openColumns(dir, n)
	if err != nil {
		return nil, err
	}
	f := &floor{columns: c}
	f.from, f.to = Minute(n)
	return f, nil
}

func (f *floor) Ask(name string) (Answer, bool, error) {
	for i := range f.parts {
		px, qty := f.px[i], f.qty[i]
		switch name {
		case "Q2", "Q4":
			f.sum += simd.Sum(bytesOf(f.sym[i]))
		case "Q3":
			f.sum += simd.Sum(bytesOf(f.side[i]))
		case "Q5":
			f.sum += simd.Sum(bytesOf(f.sym[i])) + simd.Sum(bytesOf(f.ts[i]))
		case "Q6":
			f.sum += simd.Sum(bytesOf(f.taker[i]))
			continue
		case "Q7":
			lo, hi := f.span(i)
			px, qty = px[lo:hi], qty[lo:hi]
		}
		f.sum += simd.Sum(bytesOf(px)) + simd.Sum(bytesOf(qty))
	}
	return nil, true, nil
}

// span finds the minute of Q7 in a segment by its step, as no engine could.
func (f *floor) span(i int) (lo, hi int) {
	ts := f.ts[i]
	if ts[len(ts)-1] < f.from || ts[0] >= f.to {
		return 0, 0
	}
	at := func(t int64) int { return min(max(int((t-ts[0])/(ts[1]-ts[0])), 0), len(ts)) }
	return at(f.from), at(f.to)
}
