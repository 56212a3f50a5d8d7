package stream

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

type tailFunc func(context.Context, Seq) iter.Seq2[Batch, error]

// busyTail follows a stream to the end of the crowd's time.
func busyTail(c *crowd, tail tailFunc, from Seq) error {
	return followTail(tail(c.ctx, from), from, func(Seq) bool { return true })
}

// followTail checks what a tail yields from number from on, until more says no:
// it is asked after each batch. It returns the error that ends the tail.
func followTail(tail iter.Seq2[Batch, error], from Seq, more func(next Seq) bool) error {
	check := stampCheck{next: uint64(from), begun: from == 0}
	var rows []byte
	for b, err := range tail {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			if uint64(gone.From) != check.next || gone.To <= gone.From {
				return fmt.Errorf("at %d: %w", check.next, err)
			}
			check.skip(uint64(gone.To))
			continue
		}
		if err != nil {
			return err
		}
		if rows, err = b.Rows(rows[:0]); err != nil {
			return err
		}
		if err := check.add(rows); err != nil {
			return err
		}
		if !more(Seq(check.next)) {
			return nil
		}
	}
	return errors.New("the tail ended without an error")
}
