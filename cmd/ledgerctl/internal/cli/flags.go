package cli

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
)

// A flagValue is a flag whose text is read by a function of package value.
type flagValue[T any] struct {
	v     T
	text  string
	name  string // of the type, in the help
	parse func(string) (T, error)
}

func (f *flagValue[T]) String() string { return f.text }
func (f *flagValue[T]) Type() string   { return f.name }

func (f *flagValue[T]) Set(s string) error {
	v, err := f.parse(s)
	if err != nil {
		return err
	}
	f.v, f.text = v, s
	return nil
}

func (f *flagValue[T]) set() bool { return f.text != "" }

func sizeFlag() *flagValue[int64] {
	return &flagValue[int64]{name: "size", parse: value.ParseSize}
}

func durationFlag() *flagValue[time.Duration] {
	return &flagValue[time.Duration]{name: "duration", parse: value.ParseDuration}
}

// listFlags are those of every listing.
type listFlags struct {
	format    flagValue[listing.Format]
	rawValues bool
}

// addFormat adds --format.
func (l *listFlags) addFormat(cmd *cobra.Command) {
	l.format = flagValue[listing.Format]{name: "format", parse: listing.ParseFormat}
	cmd.Flags().Var(&l.format, "format", "table, csv, json or jsonl (a table on a terminal, csv elsewhere)")
	complete(cmd, "format", listing.FormatNames()...)
}

// addRaw adds --raw-values.
func (l *listFlags) addRaw(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&l.rawValues, "raw-values", false, what)
}

const (
	rawTimes   = "times as integers in the stream's unit"
	rawRecords = "times and scaled fields as integers, as they are stored"
)

// listing begins a listing on standard output.
func (a *app) listing(l *listFlags, columns []listing.Column) listing.Writer {
	f := l.format.v.Choose(a.outTerminal)
	return listing.New(a.out, f, columns, listing.Options{Width: a.width, Color: a.color(a.outTerminal)})
}

// complete makes the shell complete a flag from a list.
func complete(cmd *cobra.Command, flag string, values ...string) {
	completeWith(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// directories completes arguments with directories: streams are such. With one
// only the first is completed.
func directories(one bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if one && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
}

// errNoStream: the directory that names a stream is missing.
var errNoStream = errors.New("which stream? its directory is missing")

// someStreams wants at least one argument, and streams' directories only.
func someStreams(args []string) error {
	if len(args) == 0 || slices.Contains(args, "") {
		return &usageError{errNoStream}
	}
	return nil
}

// oneStream wants exactly one argument, a stream's directory.
func (a *app) oneStream(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return &usageError{errNoStream}
	case len(args) > 1:
		return usagef("one stream at a time: %q is one argument too many", args[1])
	}
	a.stream = args[0]
	return nil
}
