package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/ledger/stream"
)

func newRm(a *app) *cobra.Command {
	var yes bool
	cmd := a.verb(&cobra.Command{
		Use:   "rm DIR [flags]",
		Short: "Remove a stream",
		Long: `Remove a stream, damaged or not, with what was set aside in its quarantine, and
its directory. Files that aren't the stream's are left, and the directory with
them. It asks first; where nobody can be asked it wants --yes. There is no way
back.`,
		Example:           `  ledgerctl rm data/copy`,
		Args:              a.oneStream,
		ValidArgsFunction: directories(true),
	}, func(_ context.Context, args []string) error { return a.rm(args[0], yes) })
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}

func (a *app) rm(dir string, yes bool) error {
	if ok, err := isStream(dir); err != nil {
		return err
	} else if !ok {
		return fmt.Errorf("%w: no stream in %s", stream.ErrNotFound, dir)
	}
	if !yes && !a.inTerminal {
		return usagef("rm asks, and there is no terminal to ask on: say --yes if you mean it")
	}
	if !yes && !a.ask("remove %s: %s?", dir, describe(dir)) {
		return errDeclined
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real) // "." has a name and a parent, too
	}
	if err == nil {
		err = stream.Remove(real)
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(real); err == nil {
		a.note("removed the stream; %s stays, for it holds other files", dir)
		return nil
	}
	if link, err := os.Lstat(dir); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	a.note("removed %s", dir)
	return nil
}

// describe says what a stream holds, if it can be read.
func describe(dir string) string {
	r, err := stream.OpenReader(dir)
	if err != nil {
		return "a stream that can't be read"
	}
	defer r.Close()
	s, err := r.Stats()
	if err != nil {
		return "a stream that can't be read"
	}
	return fmt.Sprintf("%s in %s", plural(s.Records, "record"), plural(uint64(s.Segments), "segment"))
}
