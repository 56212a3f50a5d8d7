//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// nobody is a user who owns none of the tests' files.
const nobody = 65534

// unprivileged is the command, run by somebody whom permission bits bind. They don't
// bind root, who becomes nobody for it.
func init() {
	commands["unprivileged"] = func() {
		if os.Getuid() == 0 {
			for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)} {
				if err != nil {
					fmt.Fprintln(os.Stderr, "root can't become another user:", err)
					os.Exit(1)
				}
			}
		}
		main()
	}
}
