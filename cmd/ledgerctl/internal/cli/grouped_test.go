package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ledger/query"
	"example.com/ledger/stream"
)

// TestQueryError: what a query refuses is wrong usage, and too many groups are
// told with what to do.
func TestQueryError(t *testing.T) {
	snap := testStream(t, []int64{1, 2, 3}, false)
	q := func() *query.Query { return query.From(snap).Every(time.Nanosecond).MaxGroups(2) }
	_, err := q().Run(t.Context(), query.Count())
	var hinted *hintedError
	if err = queryError(err); !errors.As(err, &hinted) || err.Error() != "too many groups: more than 2" {
		t.Errorf("three groups where two may be: %v", err)
	}
	_, err = q().Run(t.Context(), query.Sum("m"))
	var usage *usageError
	if err = queryError(err); !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), `there is no field "m"`) {
		t.Errorf("an unknown field: %v", err)
	}
	if err := queryError(context.Canceled); err != context.Canceled {
		t.Errorf("another error is %v", err)
	}
}

// A locked buffer is written to while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestWatch: the bar shows the share of a snapshot's parts that have been read,
// and is gone in the end.
func TestWatch(t *testing.T) {
	snap := testStream(t, make([]int64, 40), false)
	var b lockedBuffer
	a := &app{errTerminal: true, noColor: true, errs: &b}
	end := a.watch(snap, 4, 40)
	for p, err := range snap.Parts(0, stream.Seq(16)) {
		if err != nil {
			t.Fatal(err)
		}
		p.Skip()
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(b.String(), "25%"); <-look.C {
		if time.Now().After(deadline) {
			t.Fatalf("a quarter of the parts shows %q", b.String())
		}
	}
	end()
	if n := len(b.String()); n == 0 || strings.HasSuffix(b.String(), "%") {
		t.Errorf("after its end the bar shows %q", b.String())
	}
	(&app{errs: &b}).watch(snap, 4, 40)()
}
