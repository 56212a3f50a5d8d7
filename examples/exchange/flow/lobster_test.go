package flow_test

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/examples/exchange/flow"
	"example.com/ledger/shapes"
)

// lobsterFile has one hour of AAPL, 21 June 2012.
const lobsterFile = "../../../../shared/data/lobster_AAPL_2012-06-21_message_50.csv"

func newYork(t *testing.T, y int, m time.Month, d int) time.Time {
	t.Helper()
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, ny)
}

func TestLobsterRows(t *testing.T) {
	const open = 1340285400_000000000 // 2012-06-21 09:30 in New York
	for _, tc := range []struct {
		row  string
		want shapes.Order
	}{
		{"34200.004241176,1,16113575,18,5853300,1",
			shapes.Order{TS: open + 4241176, Kind: shapes.Limit, Side: shapes.Buy, Order: 16113575, Qty: 18, Px: 5853300}},
		{"34200,2,7,18,5853300,-1",
			shapes.Order{TS: open, Kind: shapes.Reduce, Side: shapes.Sell, Order: 7, Qty: 18, Px: 5853300}},
		{"34200.5,3,7,18,5853300,-1\r",
			shapes.Order{TS: open + 500000000, Kind: shapes.Cancel, Side: shapes.Sell, Order: 7, Qty: 18, Px: 5853300}},
		{"34200.0,4,7,18,5853300,-1", // who trades with a sell, buys
			shapes.Order{TS: open, Kind: shapes.IOC, Side: shapes.Buy, Order: 7, Qty: 18, Px: 5853300}},
		{"34200.0,5,0,18,5853300,1",
			shapes.Order{TS: open, Kind: shapes.Print, Side: shapes.Sell, Qty: 18, Px: 5853300}},
		{"34200.0,6,-1,18,5853300,-1",
			shapes.Order{TS: open, Kind: book.Cross, Side: shapes.NoSide, Qty: 18, Px: 5853300}},
		{"34200.0,7,0,0,-1,-1",
			shapes.Order{TS: open, Kind: shapes.Halt, Side: shapes.NoSide, Px: -1}},
		{"34200.088778456004,1,1,1,1,1", // 12 digits, as the venue writes some: rounded down
			shapes.Order{TS: open + 88778456, Kind: shapes.Limit, Order: 1, Qty: 1, Px: 1}},
		{"34200.000000000500,1,1,1,1,1", // half a nanosecond rounds up
			shapes.Order{TS: open + 1, Kind: shapes.Limit, Order: 1, Qty: 1, Px: 1}},
		{"34199.9999999995,1,1,1,1,1", // into the next second, too
			shapes.Order{TS: open, Kind: shapes.Limit, Order: 1, Qty: 1, Px: 1}},
		{"34200,1,4294967295,2147483647,2147483647,1",
			shapes.Order{TS: open, Kind: shapes.Limit, Order: 1<<32 - 1, Qty: 1<<31 - 1, Px: 1<<31 - 1}},
	} {
		l := flow.NewLobster(strings.NewReader(tc.row+"\n"), newYork(t, 2012, 6, 21))
		var got shapes.Order
		if err := l.Next(&got); err != nil || got != tc.want {
			t.Errorf("row %q:\n got %+v, %v\nwant %+v", tc.row, got, err, tc.want)
		}
		if err := l.Next(&got); err != io.EOF {
			t.Errorf("row %q: then %v, want EOF", tc.row, err)
		}
	}
}

// TestLobsterWallClock: 09:30 is 09:30 on the day on which the clocks change.
func TestLobsterWallClock(t *testing.T) {
	for _, day := range []time.Time{newYork(t, 2012, 3, 11), newYork(t, 2012, 11, 4), newYork(t, 2012, 6, 21)} {
		var o shapes.Order
		if err := flow.NewLobster(strings.NewReader("34200.25,1,1,1,1,1"), day).Next(&o); err != nil {
			t.Fatal(err)
		}
		if got := time.Unix(0, o.TS).In(day.Location()).Format("15:04:05.00"); got != "09:30:00.25" {
			t.Errorf("on %s it is %s, want 09:30:00.25", day.Format(time.DateOnly), got)
		}
	}
}

func TestLobsterRefuses(t *testing.T) {
	const good = "34200,1,1,1,1,1\n"
	for _, row := range []string{
		"", "34200,1,1,1,1", "34200,1,1,1,1,1,1",
		",1,1,1,1,1", "34200.,1,1,1,1,1", "34200.0000000000001,1,1,1,1,1", "34200.1e3,1,1,1,1,1", "-1,1,1,1,1,1",
		"86401,1,1,1,1,1", "34200.-1,1,1,1,1,1", "0x10,1,1,1,1,1",
		"34200,0,1,1,1,1", "34200,8,1,1,1,1", "34200,1,4294967296,1,1,1", "34200,1,-2,1,1,1",
		"34200,1,1,-1,1,1", "34200,1,1,2147483648,1,1", "34200,1,1,1,2147483648,1", "34200,1,1,1,1.5,1",
		"34200,1,1,1,1,0", "34200,1,1,1,1,", "time,type,id,size,price,direction",
	} {
		l := flow.NewLobster(strings.NewReader(good+row+"\n"), newYork(t, 2012, 6, 21))
		var o shapes.Order
		if err := l.Next(&o); err != nil {
			t.Fatal(err)
		}
		if err := l.Next(&o); err == nil || err == io.EOF || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("row %q: error %v, want one that names row 2", row, err)
		}
	}
	l := flow.NewLobster(strings.NewReader(strings.Repeat("1", bufio.MaxScanTokenSize+1)), newYork(t, 2012, 6, 21))
	if err := l.Next(new(shapes.Order)); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless row: %v", err)
	}
}

// TestLobsterFile: the numbers of a real hour, as a first-in-first-out engine
// without the book before 09:30 makes them.
func TestLobsterFile(t *testing.T) {
	f, err := os.Open(lobsterFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no data file: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	type numbers struct {
		rows, reproduced               int
		new, cut, cancel, exec, hidden int
		unknown, gone, traded, printed int64
	}
	var got numbers
	var engine book.Engine
	var o shapes.Order
	var fills []shapes.Fill
	ids := make(map[uint32]uint32)
	l := flow.NewLobster(f, newYork(t, 2012, 6, 21))
	for err = l.Next(&o); err == nil; err = l.Next(&o) {
		o.Seq = uint64(got.rows)
		got.rows++
		var out book.Outcome
		fills, out = engine.Apply(&o, fills[:0])
		switch out {
		case book.UnknownID:
			got.unknown++
		case book.Gone:
			got.gone++
		}
		switch o.Kind {
		case shapes.Limit:
			got.new++
			ids[uint32(o.Seq)] = o.Order
		case shapes.Reduce:
			got.cut++
		case shapes.Cancel:
			got.cancel++
		case shapes.IOC:
			got.exec++
			if len(fills) == 1 && ids[fills[0].Maker] == o.Order && fills[0].Px == o.Px && fills[0].Qty == o.Qty {
				got.reproduced++
			}
		case shapes.Print:
			got.hidden++
		}
		for _, f := range fills {
			if f.Flags&shapes.FlagHidden != 0 {
				got.printed += int64(f.Qty)
			} else {
				got.traded += int64(f.Qty)
			}
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	want := numbers{
		rows: 91997, reproduced: 3984,
		new: 44256, cut: 469, cancel: 41004, exec: 4067, hidden: 2201,
		unknown: 72, gone: 4, traded: 349714, printed: 183135,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
