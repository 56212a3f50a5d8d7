package query

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalid: the query asks for what can't be: an unknown field, a value that
	// is none, a text that can't be read. Running it again won't help.
	ErrInvalid = errors.New("query: invalid")
	// ErrTooMany: there are more groups, or intervals, than Query.MaxGroups allows.
	ErrTooMany = errors.New("query: too many groups")
)

// A SyntaxError says where a text of a query is wrong, and how. It is ErrInvalid.
type SyntaxError struct {
	Text string
	Pos  int // in Text, bytes from 0; len(Text) where something is missing at the end
	Msg  string
}

// Error returns the message with the position, counted from 1 as editors do.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("query: column %d of %s: %s", e.Pos+1, quote(e.Text), e.Msg)
}

// Unwrap returns ErrInvalid.
func (e *SyntaxError) Unwrap() error { return ErrInvalid }

// A placedError is a problem with a part of a query; pos is its place in the
// text if there is one.
type placedError struct {
	pos int
	msg string
}

func (e *placedError) Error() string { return "query: " + e.msg }
func (e *placedError) Unwrap() error { return ErrInvalid }

func badAt(pos int, format string, args ...any) error {
	return &placedError{pos, fmt.Sprintf(format, args...)}
}

// inText gives an error of a part its text.
func inText(err error, text string) error {
	if p, ok := errors.AsType[*placedError](err); ok {
		return &SyntaxError{Text: text, Pos: p.pos, Msg: p.msg}
	}
	return err
}
