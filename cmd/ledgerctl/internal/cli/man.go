package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [VERB] [flags]",
		Short: "Write man pages",
		Long: `Write the man page of ledgerctl, or of one verb, to standard output; or with
--dir one file for each to a directory.`,
		Example: `  ledgerctl man append | man -l -
  ledgerctl man --dir /usr/local/share/man/man1`,
		ValidArgsFunction: newHelp().ValidArgsFunction,
	}
	a.verb(cmd, func(_ context.Context, args []string) error {
		root := cmd.Root()
		root.DisableAutoGenTag = true
		header := &doc.GenManHeader{Section: "1", Source: "ledgerctl", Manual: "Ledger"}
		if dir != "" {
			if len(args) > 0 {
				return usagef("--dir writes the pages of all verbs: leave %q out", args[0])
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			return doc.GenManTree(root, header, dir)
		}
		topic, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return usagef("no verb %q", strings.Join(args, " "))
		}
		return doc.GenMan(topic, header, a.out)
	})
	cmd.Flags().StringVar(&dir, "dir", "", "write a file for each verb to this `directory`")
	if err := cmd.MarkFlagDirname("dir"); err != nil {
		panic(err) // no such flag: our own mistake
	}
	return cmd
}
