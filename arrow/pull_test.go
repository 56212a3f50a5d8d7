package arrow

import (
	"runtime"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// TestLockedThread: a reader made on one goroutine is read and released on others
// that are locked to their threads, which is what a callback from C is.
func TestLockedThread(t *testing.T) {
	s := every(t, schema.Nanosecond)
	v := snapshot(t, filled(t, stream.Options{Schema: s, Capacity: 64}, 210))
	recs := rows(t, v, v.First(), v.End())
	for _, whole := range []bool{true, false} {
		r := open(t, v, Options{})
		locked := func(f func()) {
			done := make(chan bool)
			go func() {
				defer close(done)
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				f()
			}()
			<-done
		}
		locked(func() {
			if !r.Next() {
				t.Errorf("no batch: %v", r.Err())
			}
		})
		if whole {
			locked(func() { sameRows(t, s, r, recs[int(r.RecordBatch().NumRows())*s.Width():]) })
		}
		locked(r.Release)
		if r.Next() || r.Err() != nil {
			t.Errorf("a batch behind the end, or %v", r.Err())
		}
	}
}
