package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
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
back. When it was interrupted, run it again.`,
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
		return fmt.Errorf("%s: %w", dir, stream.ErrNotFound)
	}
	if !yes && !a.inTerminal {
		return usagef("rm asks, and there is no terminal to ask on: say --yes if you mean it")
	}
	// The lock keeps a writer from beginning while files go.
	lock, err := disk.OS().Lock(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	defer lock.Close()
	if !yes && !a.ask("remove %s: %s?", dir, describe(dir)) {
		return errDeclined
	}
	return a.removeStream(dir)
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

// removeStream removes the stream's files, stream.json last: as long as it is
// there, the directory is known for a stream, and rm can go on where it stopped.
func (a *app) removeStream(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == meta.StreamFile || !streamsOwn(e) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(real, e.Name())); err != nil {
			return err
		}
	}
	if err := disk.OS().SyncDir(real); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(real, meta.StreamFile)); err != nil {
		return err
	}
	return a.removeDir(dir, real)
}

// removeDir removes the directory, and the link that named it, unless something
// is left in it.
func (a *app) removeDir(dir, real string) error {
	left, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		a.note("removed the stream %s; its directory stays, for it holds other files: %s", dir, strings.Join(names, ", "))
		return disk.OS().SyncDir(real)
	}
	if err := os.Remove(real); err != nil {
		return err
	}
	if link, err := os.Lstat(dir); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	a.note("removed %s", dir)
	err = disk.OS().SyncDir(filepath.Dir(real))
	if errors.Is(err, fs.ErrPermission) {
		return nil // not readable, so not ours to sync
	}
	return err
}

// streamsOwn tells whether an entry of a stream's directory is the engine's. A
// directory or a link with the name of a file isn't.
func streamsOwn(e fs.DirEntry) bool {
	if e.Name() == meta.Quarantine {
		return e.IsDir()
	}
	name := strings.TrimSuffix(e.Name(), ".tmp")
	_, seg := segment.ParseName(name)
	_, ring := journal.ParseName(name)
	known := seg || ring || name == meta.StreamFile || name == meta.DropsFile || name == meta.CursorFile
	return known && e.Type().IsRegular()
}
