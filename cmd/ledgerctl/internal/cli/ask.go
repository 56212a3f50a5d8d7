package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// errDeclined: the person at the terminal said no.
var errDeclined = errors.New("nothing was done")

// ask puts a question to the person at the terminal. Anything but yes is no.
func (a *app) ask(format string, args ...any) bool {
	fmt.Fprintf(a.errs, format+" [y/N] ", args...)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil {
		fmt.Fprintln(a.errs)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// plural writes a number of things.
func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
