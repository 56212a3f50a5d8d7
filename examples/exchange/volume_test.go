package main

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
)

// TestVolumes holds the queries against sums made one by one.
func TestVolumes(t *testing.T) {
	dir, _ := kept(t)
	j, err := openJournals(dir, flow.GeneratorScale)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	bySym, all, err := volumes(t.Context(), j.fills)
	if err != nil {
		t.Fatal(err)
	}

	type sum struct{ fills, volume, notional int64 }
	sums := make(map[string]*sum)
	add := func(key string, f *shapes.Fill) {
		if sums[key] == nil {
			sums[key] = new(sum)
		}
		s := sums[key]
		s.fills++
		s.volume += int64(f.Qty)
		s.notional += int64(f.Px) * int64(f.Qty)
	}
	err = read(j.fills, false, func(f *shapes.Fill) error {
		for _, sym := range []string{"all", fmt.Sprint(f.Sym)} {
			add(sym+" with prints", f)
			if f.Flags&shapes.FlagHidden == 0 {
				add(sym, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(key string, got turnover) {
		t.Helper()
		want := sums[key]
		if got.fills != want.fills || got.volume != want.volume {
			t.Errorf("%s: %d fills of %d, want %d of %d", key, got.fills, got.volume, want.fills, want.volume)
		}
		_, decimals, _ := strings.Cut(got.vwap, ".")
		vwap := big.NewRat(want.notional, want.volume*100).FloatString(len(decimals))
		if got.vwap != vwap {
			t.Errorf("%s: VWAP %s, want %s", key, got.vwap, vwap)
		}
	}
	check("all", all.visible)
	check("all with prints", all.withHidden)
	if len(bySym) != 3 {
		t.Errorf("%d symbols, want 3", len(bySym))
	}
	for _, v := range bySym {
		check(fmt.Sprint(v.withHidden.sym), v.visible)
		check(fmt.Sprint(v.withHidden.sym)+" with prints", v.withHidden)
	}
	if !slices.IsSortedFunc(bySym, func(a, b volume) int { return cmp.Compare(b.withHidden.volume, a.withHidden.volume) }) {
		t.Errorf("not the busiest first: %+v", bySym)
	}
}
