package main

import (
	"fmt"
	"io"
	"os"
)

// A killer ends this process without warning after so many acknowledgements: no
// deferred call runs, nothing is flushed or closed. A nil killer never does.
type killer struct {
	after int // acknowledgements
	given int // so far
	out   io.Writer
}

// spare says how many of n acknowledgements may be given before the kill, and
// whether it is due then.
func (k *killer) spare(n int) (allowed int, strike bool) {
	if k == nil {
		return n, false
	}
	allowed = min(n, k.after-k.given)
	k.given += allowed
	return allowed, k.given == k.after
}

// strike sends SIGKILL (on Windows, TerminateProcess) to this process and
// doesn't return, unless it can't.
func (k *killer) strike() error {
	fmt.Fprintf(k.out, "\nKilling this process with SIGKILL after %s acknowledged orders. Run it again to go on.\n", thousands(k.given))
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {}
}
