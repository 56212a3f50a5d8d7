//go:build unix

package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"example.com/ledger/retention"
)

const nobody = 65534

func init() { childRoles["nobody"] = readAsNobody }

// readAsNobody gives up the rights of root, which no mode of a file holds back,
// and reads all that it can. A writer must be refused.
func readAsNobody(dir string, out io.Writer) error {
	err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
	if err != nil {
		return err
	}
	end, err := readAll(dir)
	if err != nil {
		return err
	}
	return message{kind: 'e', from: uint64(end)}.send(out)
}

// readAll reads a stream in every way that a reader has, and returns its end.
func readAll(dir string) (Seq, error) {
	r, err := OpenReader(dir)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := r.Snapshot()
	if err != nil {
		return 0, err
	}
	defer n.Close()
	if err := checkSnapshot(n); err != nil {
		return 0, err
	}
	if _, err := n.Get(nil, n.End()-1); err != nil {
		return 0, err
	}
	for _, err := range n.TimeRange(0, int64(n.End())) {
		if err != nil && !errors.Is(err, ErrDropped) {
			return 0, err
		}
	}
	if _, err := r.Stats(); err != nil {
		return 0, err
	}
	if _, err := r.Consumers(); err != nil {
		return 0, err
	}
	if _, err := Create(dir, Options{Schema: stampSchema}); err == nil {
		return 0, errors.New("a stream was created over one that can't be written")
	}
	return n.End(), nil
}

// facts tells names, modes, sizes and times of a stream's files.
func facts(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, name := range append([]string{"."}, namesIn(t, dir)...) {
		i := must[os.FileInfo](t)(os.Lstat(filepath.Join(dir, name)))
		out = append(out, fmt.Sprint(name, i.Mode(), i.Size(), i.ModTime().UnixNano()))
	}
	return out
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(dir)) {
		names = append(names, e.Name())
	}
	return names
}

// TestReaderWritesNothing: a reader needs no right to write and writes nothing,
// whether the stream was closed, its writer died, or it is being written.
func TestReaderWritesNothing(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s := must[*Stream](t)(Create(dir, Options{Schema: stampSchema, Capacity: 4, Durability: mode}))
			put(t, s, 8, 7)
			settle(t, s)
			must[[]retention.Dropped](t)(s.Retain(retention.Policy{BeforeSeq: 4}, false))
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			quiet(t, s)
			check := func(when, dir string) {
				protect(t, dir)
				before := facts(t, dir)
				if end := readUnprivileged(t, dir); end != 15 {
					t.Fatalf("%s: the reader ends at %d, want 15", when, end)
				}
				if after := facts(t, dir); !slices.Equal(after, before) {
					t.Fatalf("%s: the files were %v, they are %v", when, before, after)
				}
			}
			dead := filepath.Join(t.TempDir(), "s")
			if err := os.CopyFS(dead, os.DirFS(dir)); err != nil { // as a kill leaves it
				t.Fatal(err)
			}
			check("beside its writer", dir)
			check("of a dead writer", dead)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			check("closed", dir)
		})
	}
}

// protect takes the rights to write to a stream's files and directory away.
func protect(t *testing.T, dir string) {
	t.Helper()
	for _, name := range namesIn(t, dir) {
		if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	parent := filepath.Dir(dir)
	for at, mode := range map[string]os.FileMode{dir: 0o555, parent: 0o755, filepath.Dir(parent): 0o755} {
		if err := os.Chmod(at, mode); err != nil { // others come through the parents
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
}

// readUnprivileged reads a stream as somebody whom its files' modes hold back.
func readUnprivileged(t *testing.T, dir string) Seq {
	t.Helper()
	if os.Getuid() != 0 {
		return must[Seq](t)(readAll(dir))
	}
	cover := filepath.Join(t.TempDir(), "cover") // where a binary built for coverage writes
	if err := errors.Join(os.Mkdir(cover, 0o777), os.Chmod(cover, 0o777), os.Chmod(filepath.Dir(cover), 0o755), os.Chmod(filepath.Dir(filepath.Dir(cover)), 0o755)); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "nobody", dir, "GOCOVERDIR="+cover)
	m, ok := c.next()
	if err := c.cmd.Wait(); err != nil || !ok {
		t.Fatalf("the reader failed: %v", err)
	}
	return Seq(m.from)
}
