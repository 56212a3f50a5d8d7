// Command victim is the writer, or the reader, that the fault campaign kills,
// stops, starves and cuts the power under. It tells what it does on its standard
// output: see package faults. The tests run it as a second life of their own
// binary; this is for trying things by hand.
package main

import (
	"fmt"
	"os"

	"example.com/ledger/internal/faults"
)

func main() {
	if err := faults.Victim(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}
