package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/ledger/internal/disk/sim"
	"example.com/ledger/retention"
)

type tailFunc func(context.Context, Seq) iter.Seq2[Batch, error]

// bothTails runs a test with a stream's own tail and with that of a reader
// beside it.
func bothTails(t *testing.T, mode Durability, test func(t *testing.T, d *sim.Disk, s *Stream, tail tailFunc)) {
	t.Run("stream", func(t *testing.T) {
		d, s := onSim(t, mode, 4)
		test(t, d, s, s.Tail)
		_ = s.Close()
	})
	t.Run("reader", func(t *testing.T) {
		d, s := onSim(t, mode, 4)
		r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
		test(t, d, s, r.Tail)
		_ = errors.Join(s.Close(), r.Close())
	})
}

// followTail checks what a tail yields from number from on, until more says no:
// it is asked after each batch and each dropped range. It returns the error that
// ends the tail.
func followTail(tail iter.Seq2[Batch, error], from Seq, more func(next Seq) bool) error {
	check := stampCheck{next: uint64(from), begun: from == 0}
	var rows []byte
	for b, err := range tail {
		gone, dropped := errors.AsType[*DroppedError](err)
		switch {
		case dropped:
			if uint64(gone.From) != check.next || gone.To <= gone.From || gone.Reason == "" {
				return fmt.Errorf("at %d: %w", check.next, err)
			}
			check.skip(uint64(gone.To))
		case err != nil:
			return err
		default:
			if rows, err = b.Rows(rows[:0]); err == nil {
				err = check.add(rows)
			}
			if err != nil {
				return err
			}
		}
		if !more(Seq(check.next)) {
			return nil
		}
	}
	return errors.New("the tail ended without an error")
}

// busyTail follows a stream to the end of the crowd's time.
func busyTail(c *crowd, tail tailFunc, from Seq) error {
	return followTail(tail(c.ctx, from), from, func(Seq) bool { return true })
}

// TestTail: a tail yields what is there, then what comes, and ends with its
// context's error; leaving the loop ends it, too.
func TestTail(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			bothTails(t, mode, func(t *testing.T, d *sim.Disk, s *Stream, tail tailFunc) {
				put(t, s, 3, 7)
				ctx, cancel := context.WithCancel(context.Background())
				next := Seq(10)
				err := followTail(tail(ctx, 0), 0, func(at Seq) bool {
					switch {
					case at < next:
					case next < 40: // all that is there has come: more is appended
						put(t, s, 5)
						next += 5
					default:
						cancel()
					}
					return true
				})
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("the tail ends with %v, want the context's error", err)
				}
				if err := followTail(tail(context.Background(), 12), 12, func(at Seq) bool { return at < 40 }); err != nil {
					t.Fatalf("a second tail: %v", err)
				}
			})
		})
	}
}

// TestTailWaits: a tail from beyond the end waits for that number.
func TestTailWaits(t *testing.T) {
	bothTails(t, Sealed, func(t *testing.T, d *sim.Disk, s *Stream, tail tailFunc) {
		var err error
		first := Seq(0)
		done := started(func() {
			for b, terr := range tail(context.Background(), 9) {
				first, err = b.First(), terr
				return
			}
		})
		put(t, s, 4, 4, 1)
		put(t, s, 2)
		await(t, done, "the tail")
		if err != nil || first != 9 {
			t.Fatalf("the tail from 9 begins with %d, %v", first, err)
		}
	})
}

// TestTailOvertaken: a tail is told the range that retention took before it came
// there, and goes on behind it.
func TestTailOvertaken(t *testing.T) {
	bothTails(t, Sealed, func(t *testing.T, d *sim.Disk, s *Stream, tail tailFunc) {
		put(t, s, 4, 4)
		settle(t, s)
		var got []string
		for b, err := range tail(context.Background(), 0) {
			if gone, ok := errors.AsType[*DroppedError](err); ok {
				got = append(got, fmt.Sprintf("dropped [%d,%d)", gone.From, gone.To))
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("[%d,%d)", b.First(), b.End()))
			switch b.End() {
			case 8: // the snapshot ends here: what follows is another
				put(t, s, 4, 4, 4)
				settle(t, s)
				must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 16}, false))
				continue
			case 20:
			default:
				continue
			}
			break
		}
		if want := "[[0,4) [4,8) dropped [8,16) [16,20)]"; fmt.Sprint(got) != want {
			t.Fatalf("the tail yields %v, want %s", got, want)
		}
	})
}

// TestTailOfClosed: a tail of a reader that is closed ends, and so does one of a
// stream that was closed before.
func TestTailOfClosed(t *testing.T) {
	d, s := onSim(t, Sealed, 4)
	put(t, s, 4, 2)
	r := must[*Reader](t)(OpenReaderOn(d.FS(), "/s"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	n := Seq(0)
	err := followTail(s.Tail(context.Background(), 0), 0, func(next Seq) bool { n = next; return true })
	if !errors.Is(err, ErrClosed) || n != 6 {
		t.Fatalf("the tail of a closed stream ends at %d with %v, want 6 and ErrClosed", n, err)
	}
	reached := make(chan struct{})
	done := started(func() {
		err = followTail(r.Tail(context.Background(), 0), 0, func(next Seq) bool {
			if next == 6 {
				close(reached)
			}
			return true
		})
	})
	await(t, reached, "the reader's tail to come to the end")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, done, "the tail to end")
	if !errors.Is(err, ErrClosed) {
		t.Fatalf("the tail of a closed reader ends with %v, want ErrClosed", err)
	}
}

// A mileage is a number that goes up, and that others wait for.
type mileage struct {
	mu  sync.Mutex
	at  Seq
	end error
	up  wakeup
}

func (m *mileage) set(at Seq, end error) {
	m.mu.Lock()
	m.at, m.end = max(m.at, at), end
	m.mu.Unlock()
	m.up.all()
}

func (m *mileage) await(t *testing.T, to Seq) {
	t.Helper()
	late := time.After(patience)
	for {
		up := m.up.next()
		m.mu.Lock()
		at, end := m.at, m.end
		m.mu.Unlock()
		if at >= to {
			return
		}
		if end != nil {
			t.Fatalf("the tail ended at %d with %v", at, end)
		}
		select {
		case <-up:
		case <-late:
			t.Fatalf("the tail is at %d, and all below %d was acknowledged", at, to)
		}
	}
}

// TestTailOverDeaths: a reader's tail follows writers in other processes, over
// rolls, retention, their ends and their deaths, and misses nothing.
func TestTailOverDeaths(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			if err := must[*Stream](t)(Create(dir, Options{Schema: stampSchema, Capacity: 13, Durability: mode})).Close(); err != nil {
				t.Fatal(err)
			}
			r := must[*Reader](t)(OpenReader(dir))
			ctx, cancel := context.WithCancel(context.Background())
			var m mileage
			done := started(func() {
				m.set(0, followTail(r.Tail(ctx, 0), 0, func(next Seq) bool { m.set(next, nil); return true }))
			})
			rng := rand.New(rand.NewPCG(*crashSeed, 3))
			for round := range 4 {
				c := startChild(t, "write", dir, childMode+"="+mode.String(), fmt.Sprintf("%s=%d", childSeed, rng.Uint64()))
				acked := Seq(0)
				for i := 0; ; i++ {
					msg, ok := c.next()
					if !ok {
						break
					}
					if msg.kind == 'a' {
						acked = Seq(msg.from + msg.n)
					}
					if i != 40 {
						continue
					}
					m.await(t, acked) // while it lives
					if round%2 == 0 {
						c.kill()
					} else {
						_ = c.in.(io.Closer).Close() // it closes the stream
					}
				}
				_ = c.cmd.Wait()
				m.await(t, acked) // and when it has ended
			}
			cancel()
			await(t, done, "the tail to end")
			if !errors.Is(m.end, context.Canceled) {
				t.Fatalf("the tail ends with %v", m.end)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
