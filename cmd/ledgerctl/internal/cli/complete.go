package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/stream"
)

// completeColumns completes a list of the columns of the stream that the command
// line names already.
func completeColumns(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	r, err := stream.OpenReader(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer r.Close()
	names := []string{"seq", "ts"}
	for _, f := range r.Schema().Fields() {
		names = append(names, f.Name)
	}
	before := ""
	if i := strings.LastIndexByte(toComplete, ','); i >= 0 {
		before = toComplete[:i+1]
	}
	for i := range names {
		names[i] = before + names[i]
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
