package stream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func init() { childRoles["race"] = raceChild }

// raceChild opens the stream when it is told to, and tells whether it could. It
// holds the stream until it is told to go on.
func raceChild(dir string, out io.Writer) error {
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadString('\n'); err != nil {
			return nil
		}
		s, err := Open(dir, OpenOptions{})
		switch {
		case err == nil:
			fmt.Fprintln(out, "won")
		case errors.Is(err, ErrLocked):
			fmt.Fprintln(out, "locked")
		default:
			fmt.Fprintln(out, "failed:", err)
		}
		if _, err := in.ReadString('\n'); err != nil {
			return nil
		}
		if s != nil {
			if _, _, err := s.Append(make([]byte, s.width)); err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, "free")
	}
}

// TestWritersRace: of two processes that open a stream at the same time, one of
// them through a symbolic link, exactly one is its writer; deleting the stream's
// small files lets nobody else in; a writer that died leaves the lock free.
func TestWritersRace(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "s"), filepath.Join(root, "link")
	s := must[*Stream](t)(Create(dir, Options{Schema: small(t), Capacity: 4}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	a, b := startChild(t, "race", dir), startChild(t, "race", link)
	tell := func(c *child) {
		if _, err := io.WriteString(c.in, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(c *child) string {
		line, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	const races = 100 // of two processes: 200 tries to open
	for i := range races {
		tell(a)
		tell(b)
		got := []string{hear(a), hear(b)}
		if !(got[0] == "won" && got[1] == "locked" || got[0] == "locked" && got[1] == "won") {
			t.Fatalf("race %d: %v, want one that won and one that was locked out", i, got)
		}
		if i%10 == 3 { // the files that a lock might be kept in go
			for _, name := range []string{"cursors", "LOCK", "journal.3"} {
				_ = os.Remove(filepath.Join(dir, name))
			}
		}
		if _, err := Open(dir, OpenOptions{}); !errors.Is(err, ErrLocked) {
			t.Fatalf("race %d: a third one: %v, want ErrLocked", i, err)
		}
		tell(a)
		tell(b)
		if got := []string{hear(a), hear(b)}; got[0] != "free" || got[1] != "free" {
			t.Fatalf("race %d: %v", i, got)
		}
	}
	tell(a)
	if got := hear(a); got != "won" {
		t.Fatalf("alone: %s", got)
	}
	a.kill()
	_ = a.cmd.Wait()
	s = must[*Stream](t)(Open(dir, OpenOptions{}))
	defer s.Close()
	if got := s.Cursors().Appended; got != races {
		t.Errorf("%d records, want one for each race", got)
	}
}
