//go:build unix

package verify_test

import (
	"syscall"
	"testing"
)

// makePipe makes a named pipe, which no reading command may open.
func makePipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o640); err != nil {
		t.Fatal(err)
	}
}
