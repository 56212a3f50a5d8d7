package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/term"
)

// errPipe: whoever read standard output has gone. It ends a reading verb quietly.
var errPipe = errors.New("standard output was closed")

// An output is standard output, buffered. Its first error stays: a verb that
// didn't look at it is found out by the last Flush.
type output struct{ w *bufio.Writer }

func newOutput(w io.Writer) *output { return &output{bufio.NewWriterSize(w, 64<<10)} }

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	return n, outputError(err)
}

// Flush hands on what is buffered. On a full device it is where the error shows.
func (o *output) Flush() error { return outputError(o.w.Flush()) }

func outputError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return errPipe
	}
	return &writeError{err}
}

// A writeError is a failure of standard output.
type writeError struct{ err error }

func (e *writeError) Error() string {
	var path *os.PathError
	if errors.As(e.err, &path) {
		return "standard output: " + path.Err.Error()
	}
	return "standard output: " + e.err.Error()
}

func (e *writeError) Unwrap() error { return e.err }

// terminalWidth returns how many cells a line of f has, 0 if as many as it likes.
// COLUMNS decides where f is no terminal, or one that doesn't tell.
func terminalWidth(f *os.File, terminal bool) int {
	if terminal {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	if terminal {
		return 80
	}
	return 0
}
