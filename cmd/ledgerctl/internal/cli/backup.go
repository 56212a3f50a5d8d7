package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/cmd/ledgerctl/internal/importer"
	"example.com/ledger/cmd/ledgerctl/internal/sidecar"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/stream"
)

func newBackup(a *app) *cobra.Command {
	return a.verb(&cobra.Command{
		Use:   "backup DIR DEST",
		Short: "Copy a stream, or bring a copy up to date",
		Long: `Copy the stream in DIR to the directory DEST, beside a live writer, and check what
was written. The copy is a stream of its own. Run again, it brings only what is
new; what retention has taken from the stream since stays in the copy.`,
		Example: `  ledgerctl backup data/fills /mnt/backup/fills
  ledgerctl verify /mnt/backup/fills`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" || args[1] == "" {
				return usagef("from where to where? name a stream's directory and the copy's")
			}
			a.stream = args[0]
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}, func(ctx context.Context, args []string) error {
		r, err := backup(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		a.note("%s holds records %s: %s copied, %d kept, %s written", args[1],
			seqRange(uint64(r.FirstSeq), uint64(r.EndSeq)), plural(uint64(r.Copied), "segment"), r.Kept, value.FormatSize(r.Bytes))
		return nil
	})
}

// backup copies a stream and what ledgerctl keeps beside it. The positions of
// imports must not be ahead of the copy's records, so they are those from before;
// the dictionary must not lack a text, so it is the one from after.
func backup(ctx context.Context, dir, dest string) (stream.BackupReport, error) {
	positions, err := sidecar.Hold(dir, importer.PositionFile)
	if err != nil {
		return stream.BackupReport{}, err
	}
	r, err := stream.Backup(ctx, dir, dest)
	if err != nil {
		return r, err
	}
	texts, err := sidecar.Hold(dir, dictionary.File)
	if err != nil {
		return r, err
	}
	return r, errors.Join(texts.Put(dest), positions.Put(dest))
}
