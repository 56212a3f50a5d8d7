// Command ledgerctl works with ledger streams from a shell: see ledgerctl --help.
package main

import (
	"os"

	"example.com/ledger/cmd/ledgerctl/internal/cli"
)

func main() { os.Exit(cli.Main()) }
