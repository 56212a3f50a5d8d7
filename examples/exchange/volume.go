package main

import (
	"context"

	"example.com/ledger/query"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// symbolsMost is how many symbols the table of volumes has room for.
const symbolsMost = 12

// A turnover is what was traded.
type turnover struct {
	sym    int64
	fills  int64
	volume int64
	vwap   string // "" if nothing was
}

// A volume is the turnover of one symbol, or of all.
type volume struct {
	visible    turnover // matches in the book
	withHidden turnover // these and the prints
}

// volumes asks the journal of fills for volume and volume-weighted average price
// of the busiest symbols, the busiest first, and of all.
func volumes(ctx context.Context, fills *stream.Stream) (bySym []volume, all volume, err error) {
	v, err := fills.Snapshot()
	if err != nil {
		return nil, all, err
	}
	defer v.Close()
	everything := func() *query.Query { return query.From(v) }
	visible := func() *query.Query { return everything().Where(query.Ne("flags", shapes.FlagHidden)) }

	matched := make(map[int64]turnover)
	shown, err := turnovers(ctx, visible().By("sym"))
	if err != nil {
		return nil, all, err
	}
	for _, t := range shown {
		matched[t.sym] = t
	}
	busiest, err := turnovers(ctx, everything().By("sym").Top(symbolsMost, 1))
	if err != nil {
		return nil, all, err
	}
	for _, t := range busiest {
		bySym = append(bySym, volume{matched[t.sym], t})
	}
	whole, err := turnovers(ctx, everything())
	if err != nil {
		return nil, all, err
	}
	if shown, err = turnovers(ctx, visible()); err != nil {
		return nil, all, err
	}
	return bySym, volume{shown[0], whole[0]}, nil
}

// turnovers runs a query, which gives one row, or one for each symbol.
func turnovers(ctx context.Context, q *query.Query) ([]turnover, error) {
	res, err := q.Run(ctx, query.Count(), query.Sum("qty"), query.VWAP("px", "qty"))
	if err != nil {
		return nil, err
	}
	out := make([]turnover, res.Len())
	for row := range out {
		t := &out[row]
		if res.Keys > 0 {
			t.sym, _ = res.At(row, 0).Int64()
		}
		t.fills, _ = res.At(row, res.Keys).Int64()
		t.volume, _ = res.At(row, res.Keys+1).Int64()
		t.vwap = res.At(row, res.Keys+2).String()
	}
	return out, nil
}
