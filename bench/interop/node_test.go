//go:build node

package interop

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestNode: Polars and Arrow's JavaScript find every value of every column in the
// exported files.
func TestNode(t *testing.T) {
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatal("the packages are missing: npm install --prefix interop --no-package-lock")
	}
	forEach(t, func(t *testing.T, e export) {
		out, err := exec.CommandContext(t.Context(), "node", "sums.mjs", e.parquet, e.arrow).Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]map[string]string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 {
			t.Errorf("%d readers", len(got))
		}
		for reader, sums := range got {
			if len(sums) != len(e.columns) {
				t.Errorf("%s: %d columns, want %d", reader, len(sums), len(e.columns))
			}
			for _, name := range e.columns {
				if sums[name] != e.sums[name] {
					t.Errorf("%s: %s has other values", reader, name)
				}
			}
		}
	})
}
