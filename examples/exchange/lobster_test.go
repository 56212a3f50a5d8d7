package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// lobsterFile has one hour of AAPL, 21 June 2012.
const lobsterFile = "../../../shared/data/lobster_AAPL_2012-06-21_message_50.csv"

// TestLobsterDay: a real hour, killed twice on the way, with the numbers that a
// first-in-first-out engine makes of it.
func TestLobsterDay(t *testing.T) {
	if _, err := os.Stat(lobsterFile); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no data file: %v", err)
	}
	args := func(dir string, more ...string) []string {
		return append([]string{"--dir", dir, "--input", lobsterFile, "--preset", "lobster", "--date", "2012-06-21", "--batch", "1024"}, more...)
	}
	whole := program(t, exitFine, args(t.TempDir())...)
	for _, want := range []string{
		"1  limit orders                  44,256",
		"2  reductions                       469",
		"3  cancels                       41,004",
		"4  immediate-or-cancel            4,067",
		"5  prints of hidden orders        2,201",
		"6  auction notices                    0",
		"7  halt notices                       0",
		"all                              91,997",
		"rejected: unknown id                 72",
		"rejected: no longer resting           4",
		"3,984 of 4,067 executions (98.0 %)",
		"84 rows on 80 orders",
		"volume in the file           350,494 visible, 183,135 hidden",
		"volume here                  349,714 visible, 183,135 hidden",
		"4,105        349,714   585.96791146          6,306        532,849   585.97378503",
		"4,105 fills and 2,201 prints, against 91,997 orders",
	} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %q", want)
		}
	}
	dir := t.TempDir()
	killed(t, args(dir, "--kill-after", "30000")...)
	killed(t, args(dir, "--kill-after", "50000")...)
	out := program(t, exitFine, args(dir)...)
	if got, want := endState(t, out), endState(t, whole); got != want {
		t.Errorf("killed twice it comes to %s, else to %s", got, want)
	}
	if t.Failed() {
		t.Logf("the whole day:\n%s\nkilled twice:\n%s", whole, out)
	}
}
