package main

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"example.com/ledger/bench/internal/report"
)

// short prints a number of records.
func short(n uint64) string { return report.Format(float64(n), report.Count) }

// bars draws one figure of all rows side by side.
func bars(t *report.Table, title, metric string, u report.Unit) report.Chart {
	c := report.Chart{Title: title, LogY: true, Unit: u}
	for _, row := range t.Rows {
		if s := row.Figures[metric]; len(s) > 0 {
			lo, hi := s.Range()
			x := float64(len(c.Labels))
			c.Labels = append(c.Labels, "")
			c.Lines = append(c.Lines, report.Line{Name: row.Keys[len(row.Keys)-1], X: []float64{x, x, x}, Y: []float64{lo, s.Median(), hi}, Dashed: row.Floor})
		}
	}
	return c
}

// diskUse is how many bytes of the disk a directory takes.
func diskUse(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if i, err := d.Info(); err == nil {
			n += i.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return n
}
