package ask

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/math"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

func init() {
	register(Kind{Name: "Arrow compute", Needs: "Ledger", Single: true, Open: openArrow})
}

// arrowColumns are Ledger's mapped columns as Arrow arrays, a chunk for each
// segment, without a copy.
type arrowColumns struct {
	*columns
	ts, px, qty, taker, sym, side []arrow.Array
	from, to                      int64
}

func wrap[T any](t arrow.DataType, parts [][]T) (out []arrow.Array) {
	for _, s := range parts {
		d := array.NewData(t, len(s), []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(s))}, nil, 0, 0)
		out = append(out, array.MakeFromData(d))
	}
	return out
}

func openArrow(dir string, n uint64, _ int) (Engine, error) {
	c, err := openColumns(dir, n)
	if err != nil {
		return nil, err
	}
	a := &arrowColumns{
		columns: c, ts: wrap(arrow.PrimitiveTypes.Int64, c.ts), px: wrap(arrow.PrimitiveTypes.Int32, c.px), qty: wrap(arrow.PrimitiveTypes.Int32, c.qty),
		taker: wrap(arrow.PrimitiveTypes.Uint32, c.taker), sym: wrap(arrow.PrimitiveTypes.Uint16, c.sym), side: wrap(arrow.PrimitiveTypes.Uint8, c.side),
	}
	a.from, a.to = Minute(n)
	return a, nil
}

// Ask answers all but Q4 and Q5: there is no grouping.
func (a *arrowColumns) Ask(name string) (Answer, bool, error) {
	var notional, volume, count int64
	for i := range a.px {
		var mask compute.Datum
		var err error
		switch name {
		case "Q1":
		case "Q2":
			mask, err = compare("equal", a.sym[i], uint16(Symbol))
		case "Q3":
			mask, err = all(
				func() (compute.Datum, error) { return compare("greater_equal", a.px[i], int32(PriceLo)) },
				func() (compute.Datum, error) { return compare("less_equal", a.px[i], int32(PriceHi)) },
				func() (compute.Datum, error) { return compare("equal", a.side[i], uint8(0)) })
		case "Q6":
			mask, err = compare("equal", a.taker[i], uint32(Taker))
		case "Q7":
			mask, err = all(
				func() (compute.Datum, error) { return compare("greater_equal", a.ts[i], a.from) },
				func() (compute.Datum, error) { return compare("less", a.ts[i], a.to) })
		default:
			return nil, false, nil
		}
		if err != nil {
			return nil, true, err
		}
		if name == "Q6" {
			count += trues(mask)
			mask.Release()
			continue
		}
		n, v, err := value(a.px[i], a.qty[i], mask)
		if err != nil {
			return nil, true, err
		}
		notional, volume = notional+n, volume+v
		if mask != nil {
			mask.Release()
		}
	}
	if name == "Q6" {
		return Answer{{count}}, true, nil
	}
	return Answer{{notional, volume}}, true, nil
}

func compare[T any](op string, a arrow.Array, v T) (compute.Datum, error) {
	return compute.CallFunction(context.Background(), op, nil, compute.NewDatumWithoutOwning(a), compute.NewDatum(scalar.MakeScalar(v)))
}

// all joins conditions.
func all(conds ...func() (compute.Datum, error)) (out compute.Datum, err error) {
	for _, c := range conds {
		m, err := c()
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = m
			continue
		}
		both, err := compute.CallFunction(context.Background(), "and", nil, out, m)
		if err != nil {
			return nil, err
		}
		out.Release()
		m.Release()
		out = both
	}
	return out, nil
}

func trues(mask compute.Datum) int64 {
	d := mask.(*compute.ArrayDatum).Value
	return int64(bitutil.CountSetBits(d.Buffers()[1].Bytes(), d.Offset(), d.Len()))
}

// value adds up price times quantity, and quantity, where mask says so.
func value(px, qty arrow.Array, mask compute.Datum) (notional, volume int64, err error) {
	ctx := context.Background()
	if mask != nil {
		if px, err = filter(px, mask); err != nil {
			return 0, 0, err
		}
		defer px.Release()
		if qty, err = filter(qty, mask); err != nil {
			return 0, 0, err
		}
		defer qty.Release()
	}
	to := compute.SafeCastOptions(arrow.PrimitiveTypes.Int64)
	p, err := compute.CastArray(ctx, px, to)
	if err != nil {
		return 0, 0, err
	}
	defer p.Release()
	q, err := compute.CastArray(ctx, qty, to)
	if err != nil {
		return 0, 0, err
	}
	defer q.Release()
	m, err := compute.Multiply(ctx, compute.ArithmeticOptions{NoCheckOverflow: true}, compute.NewDatumWithoutOwning(p), compute.NewDatumWithoutOwning(q))
	if err != nil {
		return 0, 0, err
	}
	defer m.Release()
	product := m.(*compute.ArrayDatum).MakeArray()
	defer product.Release()
	return math.Int64.Sum(product.(*array.Int64)), math.Int64.Sum(q.(*array.Int64)), nil
}

func filter(a arrow.Array, mask compute.Datum) (arrow.Array, error) {
	d, err := compute.Filter(context.Background(), compute.NewDatumWithoutOwning(a), mask, *compute.DefaultFilterOptions())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return d.(*compute.ArrayDatum).MakeArray(), nil
}
