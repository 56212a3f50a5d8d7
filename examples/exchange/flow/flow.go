// Package flow is where an exchange's orders come from: a seeded generator, or a
// LOBSTER message file. A source gives the same records in the same sequence each
// time it is made, so a run that was cut off goes on behind the last record that
// its journal has.
package flow

import (
	"io"

	"example.com/ledger/shapes"
)

// A Source hands out order records one by one. Seq is left 0: the journal
// stamps it. A source belongs to one goroutine.
type Source interface {
	// Next fills in o. It returns io.EOF behind the last record; after another
	// error the source is of no more use.
	Next(o *shapes.Order) error
}

// Limit returns a source that ends after n records of s, or where s ends.
func Limit(s Source, n int) Source { return &limited{s, n} }

type limited struct {
	source Source
	left   int
}

func (l *limited) Next(o *shapes.Order) error {
	if l.left == 0 {
		return io.EOF
	}
	l.left--
	return l.source.Next(o)
}
