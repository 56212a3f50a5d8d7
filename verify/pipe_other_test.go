//go:build !unix

package verify_test

import "testing"

// makePipe does nothing where directories have no pipes.
func makePipe(t *testing.T, path string) { t.Helper() }
