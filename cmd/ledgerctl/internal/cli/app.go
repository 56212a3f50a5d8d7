// Package cli is the command ledgerctl: its verbs, its exit codes, and what it
// prints where. Data goes to standard output, all else to standard error.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// An app is one run of the command.
type app struct {
	in   *os.File
	out  *output
	errs io.Writer

	inTerminal, outTerminal, errTerminal bool
	width                                int // of the terminal that shows standard output; 0: any

	quiet   bool
	noColor bool
	began   bool   // a verb has accepted its flags and arguments
	stream  string // the directory it is about, for hints
}

// Main runs the command with the process's arguments and returns its exit code.
func Main() int {
	// A closed pipe is to be an error of the write, not the end of the process:
	// an append has a stream to close.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once

	a := &app{
		in: os.Stdin, out: newOutput(os.Stdout), errs: os.Stderr,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	a.width = terminalWidth(os.Stdout, a.outTerminal)
	return a.run(ctx, os.Args[1:])
}

// endings are the signals that end a verb in order. One that was ignored when
// the process began, as nohup does, stays so.
func endings() []os.Signal {
	var list []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	cmd, err := root.ExecuteContextC(ctx)
	if ferr := a.out.Flush(); err == nil {
		err = ferr
	}
	return a.exit(cmd, err)
}

// color tells whether w's terminal may be sent escape sequences.
func (a *app) color(terminal bool) bool {
	return terminal && !a.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
