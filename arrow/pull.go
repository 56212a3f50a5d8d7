package arrow

import (
	"iter"

	"example.com/ledger/stream"
)

// pull is iter.Pull2 for a reader that is called from C, as DuckDB calls it: a
// coroutine can't be resumed on a thread that is locked to its goroutine, if it
// was made on another, so this is a goroutine. It runs only while next and stop
// wait for it, and starts with the first next. After stop there is nothing.
func pull(parts iter.Seq2[stream.Part, error]) (next func() (stream.Part, error, bool), stop func()) {
	type item struct {
		part stream.Part
		err  error
	}
	more, items := make(chan struct{}), make(chan item)
	begun, done := false, false
	run := func() {
		defer close(items)
		for p, err := range parts {
			items <- item{p, err}
			if _, ok := <-more; !ok {
				return
			}
		}
	}
	next = func() (stream.Part, error, bool) {
		switch {
		case done:
			return stream.Part{}, nil, false
		case begun:
			more <- struct{}{}
		default:
			begun = true
			go run()
		}
		x, ok := <-items
		done = !ok
		return x.part, x.err, ok
	}
	stop = func() {
		if begun && !done {
			close(more)
			<-items // closed when the loop has ended
		}
		done = true
	}
	return next, stop
}
