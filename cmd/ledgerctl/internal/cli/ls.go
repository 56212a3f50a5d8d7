package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
	"example.com/ledger/stream"
)

func newLs(a *app) *cobra.Command {
	l := &listFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "ls [ROOT] [flags]",
		Short: "List the streams below a directory",
		Long: `List the streams below ROOT, at any depth, a row each; stat tells more of each
one. Without ROOT it is the current directory. A stream that can't be opened has
its error in the last column, and the exit code says so too.`,
		Example: `  ledgerctl ls data
  ledgerctl ls data --format csv | cut -d, -f1,2`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("one directory at a time: %q is one argument too many", args[1])
			}
			return nil
		},
		ValidArgsFunction: directories(true),
	}, func(ctx context.Context, args []string) error {
		root := "."
		if len(args) > 0 {
			root = args[0]
		}
		return a.ls(ctx, root, l)
	})
	l.addFormat(cmd)
	l.addRaw(cmd, rawTimes)
	return cmd
}

func (a *app) ls(ctx context.Context, root string, l *listFlags) error {
	columns := []listing.Column{
		{Name: "stream"},
		{Name: "records", Kind: listing.Number},
		{Name: "segments", Kind: listing.Number},
		{Name: "bytes", Kind: listing.Number},
		{Name: "next_seq", Kind: listing.Exact},
		{Name: "min_ts", Kind: l.timeKind()},
		{Name: "max_ts", Kind: l.timeKind()},
		{Name: "durability"},
		{Name: "error"},
	}
	w := a.listing(l, columns)
	row := factRow{raw: l.rawValues}
	var errs []error
	err := walkStreams(root, func(dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		row.Reset()
		row.Text(dir)
		text := ""
		if err := row.open(dir); err != nil {
			errs = append(errs, err)
			row.Reset()
			row.Text(dir)
			for range len(columns) - 2 {
				row.Empty()
			}
			text = oneLine(err)
		}
		row.Text(text)
		return w.Write(&row.Row)
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil || len(errs) == 0 {
		return err
	}
	return &hintedError{errors.Join(errs...), "ledgerctl verify tells more of each"}
}

// open adds the cells of the stream in dir, but for the error.
func (r *factRow) open(dir string) error {
	rd, err := stream.OpenReader(dir)
	if err != nil {
		return err
	}
	defer rd.Close()
	s, err := rd.Stats()
	if err != nil {
		return err
	}
	i := rd.Info()
	r.Uint(s.Records)
	r.Int(int64(s.Segments))
	r.Int(s.Bytes)
	r.Uint(uint64(s.NextSeq))
	r.times(s.MinTime, s.MaxTime, i.Schema.Unit(), s.Records)
	r.Text(i.Durability.String())
	return nil
}

// walkStreams calls f for root and each directory below it that is a stream, by
// name. It does not look inside streams, and follows no link but root.
func walkStreams(root string, f func(dir string) error) error {
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		return walkStreams(real, func(dir string) error {
			rel, err := filepath.Rel(real, dir)
			if err != nil {
				return err
			}
			return f(filepath.Join(root, rel))
		})
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch ok, err := isStream(path); {
		case err != nil:
			return err
		case !ok:
			return nil
		}
		if err := f(path); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// isStream tells whether dir holds a stream's metadata.
func isStream(dir string) (bool, error) {
	_, err := disk.OS().Stat(filepath.Join(dir, meta.StreamFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
