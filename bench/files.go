package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/bench/internal/venue"
)

// filesCommand compares answers over venues' real files. It measures nothing.
func filesCommand() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "files",
		Short: "Ask ledgerctl and SQL the same of real venues' files, and compare all answers",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "bench-files-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			return compareFiles(c, c.OutOrStdout(), data, dir)
		},
	}
	c.Flags().StringVar(&data, "data", "../../shared/data", "the directory with the files")
	return c
}

func compareFiles(c *cobra.Command, w io.Writer, data, dir string) error {
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(w, "skipped: there is no %s; --data names the directory with the venues' files\n", data)
		return nil
	}
	tool, err := venue.Tool(c.Context(), dir)
	if err != nil {
		return err
	}
	var errs []error
	for i, f := range venue.Files {
		if _, err := os.Stat(filepath.Join(data, f.Name)); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(w, "%-48s skipped: it is not there\n", f.Name)
			continue
		}
		home := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(home, 0o755); err != nil {
			return err
		}
		rows, answers, err := venue.Check(c.Context(), tool, data, home, f)
		if err != nil {
			fmt.Fprintf(w, "%-48s FAILED: %v\n", f.Name, err)
			errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		fmt.Fprintf(w, "%-48s %6d rows, %d answers equal to those of %s\n", f.Name, rows, answers, strings.Join(venue.Drivers, " and "))
	}
	return errors.Join(errs...)
}
