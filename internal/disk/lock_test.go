package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// roles are what the test binary does when it is run as a child process: each
// is given a directory, writes what came of it as one line, and waits for its
// input to end.
var roles = map[string]func(dir string) string{
	"lock": func(dir string) string {
		_, err := OS().Lock(dir)
		return lockOutcome(err)
	},
}

const roleVariable = "LEDGER_DISK_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		fmt.Println(role(os.Args[1]))
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child runs a role in a process of its own, which lives until end is called.
func child(t *testing.T, role, dir string) (line string, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Errorf("the child said %q, %v", line, err)
	}
	return line, func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func lockOutcome(err error) string {
	switch {
	case err == nil:
		return "got it"
	case errors.Is(err, ErrLocked):
		return "locked"
	}
	return err.Error()
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	expect := func(when, path, want string) io.Closer {
		t.Helper()
		l, err := OS().Lock(path)
		if got := lockOutcome(err); got != want {
			t.Fatalf("%s: %s, want %s", when, got, want)
		}
		return l
	}
	fromChild := func(when, want string) (end func()) {
		t.Helper()
		line, end := child(t, "lock", dir)
		if line != want+"\n" {
			t.Fatalf("%s, another process: %q, want %s", when, line, want)
		}
		return end
	}

	l := expect("free", dir, "got it")
	expect("held", dir, "locked")
	expect("held, through a link", link, "locked")
	fromChild("held", "locked")()
	if err := os.RemoveAll(filepath.Join(dir, "LOCK")); err == nil {
		expect("held, files deleted", dir, "locked")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close = %v", err)
	}

	end := fromChild("freed", "got it")
	expect("held by the child", dir, "locked")
	end()
	if err := expect("the child is dead", dir, "got it").Close(); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OS().Lock(file); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("Lock of a file = %v", err)
	}
}
