package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Groups of verbs in the help.
const (
	groupWrite = "write"
	groupRead  = "read"
	groupKeep  = "keep"
	groupHelp  = "help"
)

func newRoot(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // verbs stand in the order in which they are used
	root := &cobra.Command{
		Use:   "ledgerctl",
		Short: "Work with ledger streams",
		Long: `ledgerctl makes, fills, reads and looks after streams: append-only sequences
of fixed-width records, each a directory. A stream is named by its directory.

Data goes to standard output, everything else to standard error. Listings are
tables on a terminal and CSV in a pipe; --format chooses.

Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 damage found.`,
		Example: `  ledgerctl create data/fills --shape fill
  ledgerctl append data/fills < fills.csv
  ledgerctl dump data/fills --since 2026-10-12T09:30:00Z --limit 10
  ledgerctl verify data/fills`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(a.errs)
			if err := cmd.Help(); err != nil {
				return err
			}
			return errUsageShown
		},
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "only errors on standard error: no notes, no progress bar")
	root.PersistentFlags().BoolVar(&a.noColor, "no-color", false, "no colours, as with NO_COLOR in the environment")
	root.Flags().Bool("version", false, "print the version")
	root.AddGroup(
		&cobra.Group{ID: groupWrite, Title: "Write:"},
		&cobra.Group{ID: groupRead, Title: "Read:"},
		&cobra.Group{ID: groupKeep, Title: "Look after:"},
		&cobra.Group{ID: groupHelp, Title: "Help:"},
	)
	add := func(group string, verbs ...*cobra.Command) {
		for _, v := range verbs {
			v.GroupID = group
			root.AddCommand(v)
		}
	}
	add(groupWrite, newCreate(a), newAppend(a), newImport(a), newSeal(a))
	add(groupRead, newDump(a), newGet(a), newTail(a), newQuery(a), newCandles(a), newExport(a), newLs(a), newStat(a), newSegments(a), newConsumers(a), newInspect(a))
	add(groupKeep, newVerify(a), newRepair(a), newBackup(a), newRetain(a), newAlter(a), newRm(a), newBench(a))
	add(groupHelp, newCompletion(a), newMan(a))
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID(groupHelp)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// flagError says of a number that can't be read what is wanted.
func flagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	want := "want a whole number"
	switch {
	case errors.Is(number.Err, strconv.ErrRange):
		want = "it is too large"
	case number.Func == "ParseUint":
		want += " from 0"
	}
	return errors.New(strings.Replace(err.Error(), number.Error(), want, 1))
}

// verb makes a command of its parts: RunE is wrapped so that errors before it
// are known as usage.
func (a *app) verb(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.began = true
		return run(cmd.Context(), args)
	}
	cmd.DisableFlagsInUseLine = true
	cmd.Flags().SortFlags = false // related ones stand together
	return cmd
}

// newHelp is cobra's help command, but that an unknown topic is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "Tell more about a verb",
		Example: "  ledgerctl help append",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("no help on %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// version says what was built: the module's version, and the commit where the
// build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		text += " " + rev[:min(len(rev), 12)]
		if settings["vcs.modified"] == "true" {
			text += "+changes"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
