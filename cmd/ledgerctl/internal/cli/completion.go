package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write a completion script for a shell",
		Long: `Write a script that teaches a shell to complete verbs, flags, their values,
streams' directories and columns. SHELL is bash, zsh, fish or powershell.`,
		Example: `  source <(ledgerctl completion bash)
  ledgerctl completion zsh > "${fpath[1]}/_ledgerctl"
  ledgerctl completion fish > ~/.config/fish/completions/ledgerctl.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which shell? name one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return shells, cobra.ShellCompDirectiveNoFileComp
		},
	}
	return a.verb(cmd, func(_ context.Context, args []string) error {
		root := cmd.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.out, true)
		case "zsh":
			return root.GenZshCompletion(a.out)
		case "fish":
			return root.GenFishCompletion(a.out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(a.out)
		}
		return usagef("no completion for %q; there is one for %s", args[0], strings.Join(shells, ", "))
	})
}
