package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// TestExit: what each kind of error says, on one line, and its exit code.
func TestExit(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		say  string // "" for nothing
	}{
		{nil, 0, ""},
		{errPipe, 0, ""},
		{fmt.Errorf("dump: %w", errPipe), 0, ""},
		{errDamage, 3, ""},
		{errors.New("a\nb"), 1, "ledgerctl: a; b\n"},
		{usagef("no"), 2, "ledgerctl: no; see ledgerctl dump --help\n"},
		{&usageError{errors.Join(schema.ErrSchema, schema.ErrSchema)}, 2, "ledgerctl: bad schema; bad schema; see ledgerctl dump --help\n"},
		{fmt.Errorf("ledger: read d: %w", stream.ErrNotFound), 1, "ledgerctl: read d: not found; ledgerctl ls lists "},
		{&stream.CorruptError{Path: "f", Offset: 7, From: 1, To: 2}, 3, "ledgerctl: corrupt: f at byte 7: records [1, 2); ledgerctl verify d lists all that is wrong\n"},
		{errors.Join(io.EOF, stream.ErrCorrupt), 3, "ledgerctl: EOF; corrupt; ledgerctl verify d "},
		{stream.ErrVersion, 1, "ledgerctl: version not known to this release; a newer ledgerctl reads it\n"},
		{stream.ErrLocked, 1, "ledgerctl: locked by another writer; wait for the other writer, or stop it; "},
		{stream.ErrNoSpace, 1, "ledgerctl: no space; make room and run it again\n"},
		{stream.ErrPoisoned, 1, "what was acknowledged is kept\n"},
		{stream.ErrFault, 1, "ledgerctl verify d lists all that is wrong\n"},
		{fs.ErrPermission, 1, "look at the owner and mode of it and of its directory\n"},
		{errShown, 1, ""},
		{fmt.Errorf("verify: %w", context.Canceled), 1, "ledgerctl: interrupted; run it again\n"},
		{&hintedError{stream.ErrCorrupt, "do this"}, 3, "ledgerctl: corrupt; do this\n"},
		{&writeError{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}, 1, "ledgerctl: standard output: no space left on device\n"},
	} {
		var b strings.Builder
		a := &app{errs: &b, began: true, stream: "d"}
		root := newRoot(a)
		cmd, _, _ := root.Find([]string{"dump"})
		code := a.exit(cmd, c.err)
		if code != c.code || (c.say == "") != (b.String() == "") || !strings.Contains(b.String(), c.say) || strings.Count(b.String(), "\n") > 1 {
			t.Errorf("%v: code %d, %q, want %d, %q", c.err, code, b.String(), c.code, c.say)
		}
	}
}

// TestExitBeforeVerb: what is wrong before a verb begins is wrong usage, but not a
// device that is full.
func TestExitBeforeVerb(t *testing.T) {
	a := &app{errs: io.Discard}
	if code := a.exit(&cobra.Command{Use: "x"}, errors.New("unknown flag")); code != exitUsage {
		t.Errorf("code %d", code)
	}
	if code := a.exit(&cobra.Command{Use: "x"}, &writeError{syscall.ENOSPC}); code != exitFailed {
		t.Errorf("code %d of a full device", code)
	}
}

// TestOutput: errors of standard output stay, and a closed pipe is told apart.
func TestOutput(t *testing.T) {
	o := newOutput(brokenWriter{syscall.EPIPE})
	if _, err := o.Write(make([]byte, 100<<10)); !errors.Is(err, errPipe) {
		t.Errorf("a write to a closed pipe: %v", err)
	}
	o = newOutput(brokenWriter{syscall.ENOSPC})
	if _, err := o.Write([]byte("x")); err != nil {
		t.Errorf("a buffered write: %v", err)
	}
	for range 2 {
		if err := o.Flush(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("flush to a full device: %v", err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
