package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// lineMax is the longest line, in bytes: a thousand times what a record needs.
const lineMax = 256 << 10

// lines cuts a reader into lines and counts them.
type lines struct {
	r *bufio.Reader // its buffer holds lineMax bytes
	n int           // of the line returned last, from 1
}

// firstByte returns the first byte that isn't white space, and 0 if none comes.
// Nothing of it, or behind it, is consumed.
func (l *lines) firstByte() (byte, error) {
	if mark, err := l.r.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" { // a byte order mark
		l.r.Discard(3)
	}
	for {
		b, err := l.r.Peek(1)
		if err != nil {
			return 0, err
		}
		switch b[0] {
		case '\n':
			l.n++
			fallthrough
		case ' ', '\t', '\r':
			l.r.Discard(1)
		default:
			return b[0], nil
		}
	}
}

// next returns the next line that isn't blank, without its end.
func (l *lines) next() (string, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			return "", l.bad(1, fmt.Errorf("longer than %d bytes", lineMax))
		}
		if err != nil && (err != io.EOF || len(line) == 0) {
			return "", err
		}
		l.n++
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.Trim(line, " \t\r")) > 0 {
			return string(line), nil
		}
	}
}

// ready tells whether a whole line is there without waiting.
func (l *lines) ready() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}

// bad says that the line after ahead more is wrong.
func (l *lines) bad(ahead int, err error) error { return &LineError{"line", l.n + ahead, err} }
