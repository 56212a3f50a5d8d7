package flow

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/examples/exchange/book"
	"example.com/ledger/shapes"
)

// LobsterScale is the number of decimal digits of a LOBSTER price: the file has
// dollars × 10⁴.
const LobsterScale = 4

// Lobster reads a LOBSTER message file, which has no header and one event a row:
//
//	seconds after midnight, type, order id, size, price × 10⁴, direction
//
// Direction is that of the order in the book: 1 a buy, −1 a sell. Each row makes
// one order record, so that row n is record n:
//
//	type  becomes
//	  1   a limit order under the file's id
//	  2   a reduction by size, which keeps the order's priority
//	  3   a cancel
//	  4   an immediate-or-cancel order of that size against the named side, at that
//	      price. The file doesn't say who sent it: the aggressor is synthetic, and the
//	      record's order field has the id of the resting order that the file says it hit
//	  5   a print: a trade with a hidden order, which never touches the visible book
//	  6   a notice (an auction's trade), which is counted and no more
//	  7   a notice (a trading halt)
//
// The side of types 4 and 5 is the aggressor's, opposite to the file's direction.
type Lobster struct {
	lines    *bufio.Scanner
	midnight midnight
	row      int
}

// NewLobster reads a file of the day on which midnight was, with the times of day
// in its location. Hours count as the clock on the wall shows them: 34200 is 09:30
// on each day of the year.
func NewLobster(r io.Reader, day time.Time) *Lobster {
	return &Lobster{lines: bufio.NewScanner(r), midnight: midnight{day}}
}

// Next returns io.EOF at the end of the file; other errors name the row, from 1.
func (l *Lobster) Next(o *shapes.Order) error {
	if !l.lines.Scan() {
		if err := l.lines.Err(); err != nil {
			return fmt.Errorf("lobster: row %d: %w", l.row+1, err)
		}
		return io.EOF
	}
	l.row++
	if err := l.parse(l.lines.Text(), o); err != nil {
		return fmt.Errorf("lobster: row %d: %w", l.row, err)
	}
	return nil
}

func (l *Lobster) parse(line string, o *shapes.Order) error {
	cols := strings.Split(strings.TrimSuffix(line, "\r"), ",")
	if len(cols) != 6 {
		return fmt.Errorf("%d columns, want 6", len(cols))
	}
	*o = shapes.Order{}
	var err error
	if o.TS, err = l.midnight.nanos(cols[0]); err != nil {
		return err
	}
	id, err := strconv.ParseUint(cols[2], 10, 32)
	if err != nil && cols[2] != "-1" { // which an auction's trade has for none
		return fmt.Errorf("order id %q: want 0 to %d", cols[2], uint32(math.MaxUint32))
	}
	size, err := strconv.ParseInt(cols[3], 10, 32)
	if err != nil || size < 0 {
		return fmt.Errorf("size %q: want 0 to %d", cols[3], math.MaxInt32)
	}
	px, err := strconv.ParseInt(cols[4], 10, 32)
	if err != nil {
		return fmt.Errorf("price %q: want 32 bits", cols[4])
	}
	o.Order, o.Qty, o.Px = uint32(id), int32(size), int32(px)
	return classify(o, cols[1], cols[5])
}

// classify sets kind and side from the file's type and direction.
func classify(o *shapes.Order, event, direction string) error {
	switch direction {
	case "1":
		o.Side = shapes.Buy
	case "-1":
		o.Side = shapes.Sell
	default:
		return fmt.Errorf("direction %q: want 1 or -1", direction)
	}
	switch event {
	case "1":
		o.Kind = shapes.Limit
	case "2":
		o.Kind = shapes.Reduce
	case "3":
		o.Kind = shapes.Cancel
	case "4":
		o.Kind, o.Side = shapes.IOC, o.Side.Opposite()
	case "5":
		o.Kind, o.Side = shapes.Print, o.Side.Opposite()
	case "6":
		o.Kind, o.Side = book.Cross, shapes.NoSide
	case "7":
		o.Kind, o.Side = shapes.Halt, shapes.NoSide
	default:
		return fmt.Errorf("type %q: want 1 to 7", event)
	}
	return nil
}
