package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/stream"
)

func newBackup(a *app) *cobra.Command {
	return a.verb(&cobra.Command{
		Use:   "backup DIR DEST",
		Short: "Copy a stream, or bring a copy up to date",
		Long: `Copy the stream in DIR to the directory DEST, beside a live writer, and check
what was written. The copy is a stream of its own. Run again, it brings only
what is new; what retention has taken from the stream since stays in the copy.`,
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
		r, err := stream.Backup(ctx, args[0], args[1])
		if errors.Is(err, stream.ErrExists) {
			return &hintedError{err, "choose another directory, or remove it with ledgerctl rm " + args[1]}
		}
		if err != nil {
			return err
		}
		a.note("%s holds records %s: %s copied, %d kept, %s written", args[1],
			seqRange(uint64(r.FirstSeq), uint64(r.EndSeq)), plural(uint64(r.Copied), "segment"), r.Kept, value.FormatSize(r.Bytes))
		return nil
	})
}
