package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ledger/stream"
)

// Exit codes. Scripts depend on them: never change one.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // of the command: flags, arguments, values of either
	exitDamage = 3 // found by any verb that meets it
)

// A usageError is the caller's mistake.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// A hintedError knows what to do next.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// errInterrupted: a signal ended the verb.
var errInterrupted = errors.New("interrupted")

// errDamage: a verb has reported damage on its own; nothing is left to say.
var errDamage = errors.New("damage")

// errShown: what failed has been said.
var errShown = errors.New("failed")

// errUsageShown: the help has been shown; nothing is left to say.
var errUsageShown = errors.New("usage")

// exit says what went wrong, on one line, and returns the exit code.
func (a *app) exit(cmd *cobra.Command, err error) int {
	var usage *usageError
	var output *writeError
	switch {
	case err == nil, errors.Is(err, errPipe):
		return exitOK
	case errors.Is(err, errDamage):
		return exitDamage
	case errors.Is(err, errShown):
		return exitFailed
	case errors.Is(err, errUsageShown):
		return exitUsage
	case errors.As(err, &usage), !a.began && !errors.As(err, &output):
		a.complain(err, "see "+cmd.CommandPath()+" --help")
		a.point(err)
		return exitUsage
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	a.complain(err, a.hint(err))
	if errors.Is(err, stream.ErrCorrupt) {
		return exitDamage
	}
	return exitFailed
}

func (a *app) complain(err error, hint string) {
	text := oneLine(err)
	if hint != "" {
		text += "; " + hint
	}
	prefix := "ledgerctl:"
	if a.color(a.errTerminal) {
		prefix = "\x1b[31m" + prefix + "\x1b[0m"
	}
	fmt.Fprintln(a.errs, prefix, text)
}

// note tells something on standard error that is no error.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.errs, format+"\n", args...)
	}
}

// oneLine is the text of an error without line ends, and without the prefix that
// the packages put before theirs.
func oneLine(err error) string {
	text := strings.TrimSpace(err.Error())
	if head, list, ok := strings.Cut(text, "\n\nDid you mean this?\n"); ok { // cobra's
		text = head + "; did you mean " + strings.Join(strings.Fields(list), " or ") + "?"
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "ledger: ")
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ": ledger: ", ": ")
}

// hint says what to do next about an error.
func (a *app) hint(err error) string {
	var hinted *hintedError
	dir := a.stream
	if dir == "" {
		dir = "DIR"
	}
	switch {
	case errors.As(err, &hinted):
		return hinted.hint
	case errors.Is(err, stream.ErrVersion):
		return "a newer ledgerctl reads it"
	case errors.Is(err, stream.ErrCorrupt), errors.Is(err, stream.ErrFault):
		return "ledgerctl verify " + dir + " lists all that is wrong"
	case errors.Is(err, stream.ErrLocked):
		return "wait for the other writer, or stop it; reading verbs work beside it"
	case errors.Is(err, stream.ErrNotFound):
		return "ledgerctl ls lists the streams below a directory, create makes one"
	case errors.Is(err, stream.ErrExists):
		return "choose another directory, or remove it with ledgerctl rm " + dir
	case errors.Is(err, stream.ErrNoSpace):
		return "make room and run it again"
	case errors.Is(err, stream.ErrPoisoned):
		return "look after the disk, then run it again: what was acknowledged is kept"
	case errors.Is(err, stream.ErrDropped):
		return "ledgerctl stat " + dir + " tells the first record that is there"
	case errors.Is(err, fs.ErrPermission):
		return "look at the owner and mode of it and of its directory"
	case errors.Is(err, errInterrupted):
		return "run it again"
	}
	return ""
}
