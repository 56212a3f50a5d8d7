package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/stream"
)

// completeColumns completes a list of the columns of the stream that the command
// line names already.
func completeColumns(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return completeNames(args, toComplete[:strings.LastIndexByte(toComplete, ',')+1], nil)
}

// completeWords completes the last word of a text with the stream's columns and
// with more words.
func completeWords(more ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		word := strings.TrimRightFunc(toComplete, func(r rune) bool {
			return r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
		})
		return completeNames(args, word, more)
	}
}

// completeNames returns the columns of the stream that args name, and more, each
// behind what stands there already.
func completeNames(args []string, before string, more []string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	r, err := stream.OpenReader(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer r.Close()
	names := []string{before + "seq", before + "ts"}
	for _, f := range r.Schema().Fields() {
		names = append(names, before+f.Name)
	}
	for _, m := range more {
		names = append(names, before+m)
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeWith makes the shell complete a flag by a function.
func completeWith(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag: our own mistake
	}
}
