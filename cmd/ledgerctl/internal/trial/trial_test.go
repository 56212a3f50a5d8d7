package trial

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// TestRun: each measurement counts something, and nothing is left behind, also by
// one that was ended.
func TestRun(t *testing.T) {
	dir, n := t.TempDir(), 0
	if err := Run(t.Context(), dir, 5*time.Millisecond, func(r Result) error {
		if n++; r.Records <= 0 || r.Bytes <= r.Records || r.Median <= 0 || r.Beside <= 0 || r.Ratio <= 0 {
			t.Errorf("%+v", r)
		}
		return nil
	}); err != nil || n != 4 {
		t.Errorf("%d results, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, dir, time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
