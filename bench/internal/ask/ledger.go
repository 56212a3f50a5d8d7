package ask

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"example.com/ledger/query"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func init() {
	register(Kind{Name: "Ledger", Load: loadLedger, Open: openLedger})
}

func loadLedger(dir string, n uint64) error {
	s, err := stream.Create(filepath.Join(dir, "ledger"), stream.Options{Schema: shapes.FillSchema(), Durability: stream.Os})
	if err != nil {
		return err
	}
	err = each(n, func(b []byte) error {
		_, _, err := s.Append(b)
		return err
	})
	return errors.Join(err, s.Seal(), s.Close())
}

type ledger struct {
	r       *stream.Reader
	v       *stream.Snapshot
	threads int
	n       uint64
}

func openLedger(dir string, n uint64, threads int) (Engine, error) {
	r, err := stream.OpenReader(filepath.Join(dir, "ledger"))
	if err != nil {
		return nil, err
	}
	v, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	if uint64(v.End()) != n {
		return nil, fmt.Errorf("there are %d records, not %d", v.End(), n)
	}
	return &ledger{r, v, threads, n}, nil
}

func (l *ledger) Close() error { return errors.Join(l.v.Close(), l.r.Close()) }

func (l *ledger) Ask(name string) (Answer, bool, error) {
	q := query.From(l.v).Workers(l.threads)
	aggs := []query.Agg{query.Notional("px", "qty"), query.Sum("qty")}
	switch name {
	case "Q1":
	case "Q2":
		q.Where(query.Eq("sym", Symbol))
	case "Q3":
		q.Where(query.And(query.Between("px", PriceLo, PriceHi), query.Eq("side", 0)))
	case "Q4":
		q.By("sym")
	case "Q5":
		q.Every(time.Minute).By("sym")
		aggs = []query.Agg{query.First("px"), query.Max("px"), query.Min("px"), query.Last("px"), query.Sum("qty")}
	case "Q6":
		q.Where(query.Eq("taker", Taker))
		aggs = []query.Agg{query.Count()}
	case "Q7":
		from, to := Minute(l.n)
		q.Times(from, to)
	}
	r, err := q.Run(context.Background(), aggs...)
	if err != nil {
		return nil, true, err
	}
	a := make(Answer, r.Len())
	var text []byte
	for i := range a {
		for c := range r.Columns {
			text = r.At(i, c).AppendRaw(text[:0])
			v, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return nil, true, fmt.Errorf("%s, %v: %w", name, r.Columns[c], err)
			}
			if r.Columns[c].Time {
				v /= minute
			}
			a[i] = append(a[i], v)
		}
	}
	return a, true, nil
}
