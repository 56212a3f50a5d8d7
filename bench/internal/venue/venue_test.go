package venue

import (
	"os"
	"testing"
)

const data = "../../../../shared/data"

// TestFiles: ledgerctl and SQL say the same of every real file.
func TestFiles(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		t.Skip("no ../shared/data beside this checkout: the venues' files are not part of it")
	}
	tool, err := Tool(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Files {
		if testing.Short() && f.Preset != "coinbase" && f.Preset != "binance-aggtrades" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			rows, answers, err := Check(t.Context(), tool, data, t.TempDir(), f)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d rows, %d answers", rows, answers)
		})
	}
}

// TestScaled: digits are never lost.
func TestScaled(t *testing.T) {
	for text, want := range map[string]int64{"61837.63000000": 6_183_763_000_000, "7": 700_000_000, "0.00141342": 141_342, "-1.5": -150_000_000, "1.0000000000": 100_000_000} {
		if got, err := scaled(text, 8); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
	if got, err := scaled("0.000000001", 8); err == nil {
		t.Errorf("a ninth decimal is dropped: %d", got)
	}
	for text, want := range map[string]int64{"34200.004241176": 34_200_004_241_176, "35821.088778456004": 35_821_088_778_456, "1.0000000005": 1_000_000_001, "5": 5_000_000_000} {
		if got, err := nanos(text, 1); err != nil || got != want {
			t.Errorf("%s is %d ns, %v, want %d", text, got, err, want)
		}
	}
}
