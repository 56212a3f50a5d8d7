package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

var (
	full = flag.Bool("faults.full", false, "the whole campaign, not a sample of it")
	seed = flag.Uint64("faults.seed", 1, "seed of what is random")
)

var modes = []stream.Durability{stream.Commit, stream.Sealed, stream.Os}

// sample is n in the full run and some in a short one.
func sample(some, n int) int {
	if *full {
		return n
	}
	return some
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// victimOf makes a process of this binary a victim, and not a test.
const victimOf = "LEDGER_FAULTS_VICTIM"

// victim returns the command of a writer or reader.
func victim(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), victimOf+"=1")
	return cmd
}

// TestMain turns to a victim's part where this process is one. Where the campaign
// mounts file systems, it first puts the tests into a name space of their own:
// see host.
func TestMain(m *testing.M) {
	if os.Getenv(victimOf) != "" {
		if err := Victim(os.Args[1:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "victim:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if code, done := host(); done {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// patience is how long a writer may take for a script, or for anything, on the
// slowest machine: one that takes longer hangs.
const patience = 5 * time.Minute

// hear runs a writer to its end, whichever way it ends, and returns what it told.
// each, if not nil, is called behind each line.
func (t *Told) hear(tb testing.TB, cmd *exec.Cmd, mode stream.Durability, each func(line string)) (err error, stderr string) {
	tb.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	check(tb, err)
	check(tb, cmd.Start())
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Listen(out, mode == stream.Commit, each)
	err = cmd.Wait()
	if !late.Stop() {
		tb.Fatalf("the writer hung: %s", cmd)
	}
	return err, errs.String()
}

// An audit looks at a stream after a fault, as the next process would.
type audit struct {
	dir   string
	mode  stream.Durability
	told  *Told
	power bool // the power was cut: what was not durable may be gone
	small bool // the segments take no more than a batch of two
}

// run reads the stream, recovers it, goes on with it and opens it once more. It
// returns what the recovery reported.
func (a audit) run() (stream.OpenReport, error) {
	var rep stream.OpenReport
	if len(a.told.Bugs) > 0 {
		return rep, fmt.Errorf("the writer tells of bugs: %q", a.told.Bugs)
	}
	if err := a.verifies(false); err != nil {
		return rep, err
	}
	if err := a.reads(); err != nil {
		return rep, fmt.Errorf("reader: %w", err)
	}
	s, err := stream.Open(a.dir, stream.OpenOptions{})
	if err != nil {
		if !a.told.Created && errors.Is(err, stream.ErrNotFound) {
			return rep, nil
		}
		return rep, fmt.Errorf("open: %w", err)
	}
	rep = s.Report()
	if err := a.compare(s, uint64(s.Cursors().Appended)); err != nil {
		_ = s.Close()
		return rep, fmt.Errorf("after recovery %+v: %w", rep, err)
	}
	end := s.Cursors().Appended
	sizes := []int{1, Capacity, 2*Capacity - 1, 2}
	if a.small {
		sizes = []int{1, 2, 1}
	}
	for _, n := range sizes {
		if _, _, err := s.AppendAt(end, Batch(uint64(end), n)); err != nil {
			_ = s.Close()
			return rep, fmt.Errorf("append after recovery: %w", err)
		}
		end += stream.Seq(n)
	}
	if err := s.Close(); err != nil {
		return rep, fmt.Errorf("close: %w", err)
	}
	if err := a.verifies(true); err != nil {
		return rep, err
	}
	if s, err = stream.Open(a.dir, stream.OpenOptions{}); err != nil {
		return rep, fmt.Errorf("second open: %w", err)
	}
	defer s.Close()
	if got := s.Cursors().Appended; got != end {
		return rep, fmt.Errorf("second open: goes on at %d, not %d", got, end)
	}
	return rep, a.compare(s, uint64(end))
}

// bound is where what must be there ends.
func (a audit) bound() uint64 {
	if a.power {
		return a.told.Durable
	}
	return a.told.Acked
}

// compare holds what a stream has against what was told.
func (a audit) compare(s *stream.Stream, end uint64) error {
	n, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	if end < a.bound() {
		return fmt.Errorf("it ends at %d, and %d was promised", end, a.bound())
	}
	return a.content(n)
}

func (a audit) content(n *stream.Snapshot) error {
	var bad error
	gone := func(d *stream.DroppedError) {
		if uint64(d.To) <= a.told.Retained || a.power && a.mode != stream.Commit && uint64(d.From) >= min(a.told.Durable, a.told.Acked) {
			return
		}
		bad = errors.Join(bad, fmt.Errorf("%w; all from %d on was to be kept, and all below %d is durable", d, a.told.Retained, a.told.Durable))
	}
	if uint64(n.First()) > a.told.Retained {
		if a.bound() > a.told.Retained {
			gone(&stream.DroppedError{From: stream.Seq(a.told.Retained), To: n.First(), Reason: "begins above"})
		}
	}
	return errors.Join(Read(n, a.power && a.mode != stream.Commit, gone), bad)
}

// reads looks at the stream without a writer.
func (a audit) reads() error {
	r, err := stream.OpenReader(a.dir)
	if !a.told.Created && errors.Is(err, stream.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := r.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	if !a.power {
		if uint64(n.End()) < a.told.Acked {
			return fmt.Errorf("it ends at %d, and %d was acknowledged", n.End(), a.told.Acked)
		}
		return a.content(n)
	}
	// After a power loss an error may name what the recovery will name as lost.
	if err := a.content(n); err != nil && (a.mode == stream.Commit || !errors.Is(err, stream.ErrCorrupt)) {
		return err
	}
	return nil
}

// verifies is nil if verify finds what it should. Before a recovery losses of a
// power cut are problems, and rightly.
func (a audit) verifies(recovered bool) error {
	if !a.told.Created {
		if _, err := os.Stat(filepath.Join(a.dir, "stream.json")); errors.Is(err, fs.ErrNotExist) {
			return nil // verify tells of what there is of an unfinished creation
		}
	}
	r, err := verify.Stream(context.Background(), a.dir)
	if err != nil {
		return err
	}
	if !r.OK && (recovered || !a.power || a.mode == stream.Commit) {
		return fmt.Errorf("verify (recovered: %t): %v", recovered, r.Problems)
	}
	return nil
}

// listing is the names and sizes in the stream's directory, for messages.
func listing(dir string) string {
	var b strings.Builder
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			fmt.Fprintf(&b, " %s:%d", e.Name(), i.Size())
		}
	}
	return b.String()
}
