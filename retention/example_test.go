package retention_test

import (
	"fmt"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// A policy that keeps a week of data, and never more than 250 bytes of it.
func ExamplePolicy_Select() {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	day := func(d int) int64 { return now.AddDate(0, 0, d).UnixNano() }
	segments := []retention.Segment{
		{First: 0, End: 4096, MinTime: day(-10), MaxTime: day(-9), Bytes: 100},
		{First: 4096, End: 8192, MinTime: day(-9), MaxTime: day(-5), Bytes: 100},
		{First: 8192, End: 12288, MinTime: day(-5), MaxTime: day(-1), Bytes: 100},
	}
	total := retention.Totals{Records: 12300, Bytes: 310}
	p := retention.Policy{MaxBytes: 250, MaxAge: 7 * 24 * time.Hour}
	fmt.Println(p)
	for _, d := range p.Select(segments, total, now, schema.Nanosecond) {
		fmt.Printf("[%d, %d) %s\n", d.First, d.End, d.Reason)
	}
	// Output:
	// max-bytes 250, max-age 168h0m0s
	// [0, 4096) max-bytes
}
