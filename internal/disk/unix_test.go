//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	roles["limit"] = func(dir string) string {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err.Error()
		}
		limit.Cur = 5000 // and no other maximum: not everybody may raise that
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err.Error()
		}
		f, err := OS().Create(filepath.Join(dir, "big"))
		if err != nil {
			return err.Error()
		}
		err = WriteZeros(f, 10000)
		size, _ := f.Size()
		return fmt.Sprint(size, errors.Is(err, ErrNoSpace), errors.Is(err, syscall.EFBIG))
	}
}

// TestSizeLimit meets a real full file.
func TestSizeLimit(t *testing.T) {
	line, end := child(t, "limit", t.TempDir())
	defer end()
	if want := "5000 true true\n"; line != want {
		t.Errorf("with files limited to 5000 bytes: %q, want %q", line, want)
	}
}

func TestClassed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error // of ours; nil for none
	}{
		{syscall.ENOSPC, ErrNoSpace},
		{syscall.EDQUOT, ErrNoSpace},
		{syscall.EFBIG, ErrNoSpace},
		{syscall.EFAULT, ErrFault},
		{syscall.EIO, nil},
		{syscall.ENOENT, nil},
		{syscall.EMFILE, nil},
		{errors.New("other"), nil},
	} {
		err := Classed(&fs.PathError{Op: "write", Path: "file", Err: c.err})
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "write file: "+c.err.Error()) {
			t.Errorf("%v became %v", c.err, err)
		}
		for _, class := range []error{ErrNoSpace, ErrFault} {
			if got := errors.Is(err, class); got != (class == c.want) {
				t.Errorf("%v is %v: %v", c.err, class, got)
			}
		}
		if _, ok := errors.AsType[*fs.PathError](err); !ok {
			t.Errorf("%v has lost its path", err)
		}
	}
	if err := Classed(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// TestRefusals: nothing but regular files is opened, and nothing waits.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a socket's path has room for about a hundred bytes
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Mkdir(path("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	create(t, path("file"), []byte("content"))
	for link, to := range map[string]string{"link": "file", "dangling": "nothing", "pipelink": "pipe"} {
		if err := os.Symlink(path(to), path(link)); err != nil {
			t.Fatal(err)
		}
	}
	open := map[string]func(string) (File, error){"Open": OS().Open, "OpenRW": OS().OpenRW, "Create": OS().Create}
	for _, name := range []string{"pipe", "socket", "dir", "link", "dangling", "pipelink"} {
		if e, err := OS().Stat(path(name)); err != nil || e.Regular || e.Dir != (name == "dir") || e.Size != 0 {
			t.Errorf("Stat(%s) = %+v, %v", name, e, err)
		}
		for how, open := range open {
			f, err := open(path(name))
			if err == nil {
				_ = f.Close()
			}
			if wantOpen := name == "link" && how == "Open"; (err == nil) != wantOpen {
				t.Errorf("%s(%s) = %v", how, name, err)
			}
			if err != nil && (f != nil || !strings.Contains(err.Error(), path(name))) {
				t.Errorf("%s(%s) = %v, %v, want no file and the path", how, name, f, err)
			}
			if err != nil && (name != "dangling" || how != "Open") && !errors.Is(err, errNotRegular) {
				t.Errorf("%s(%s) = %v, want %v", how, name, err, errNotRegular)
			}
		}
	}
	if content, err := os.ReadFile(path("file")); err != nil || string(content) != "content" {
		t.Errorf("the file is %q now, %v", content, err)
	}
	if _, err := os.Lstat(path("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made through a link: %v", err)
	}
	if err := OS().Remove(path("link")); err != nil {
		t.Errorf("Remove of a link = %v", err)
	}
}

func TestModes(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := t.TempDir()
	create(t, filepath.Join(dir, "file"), nil)
	if err := OS().Mkdir(filepath.Join(dir, "dir")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"file": 0o640, "dir": 0o750 | fs.ModeDir} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

// TestFault: a file cut short under its mapping is an error in Guard, whatever
// touches it, and the mapping goes on where the file does.
func TestFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	page := os.Getpagesize()
	f := create(t, path, make([]byte, 3*page))
	m, err := f.Map(3*page, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	if err := os.Truncate(path, int64(page)); err != nil {
		t.Fatal(err)
	}
	b := m.Bytes()
	sink := make([]byte, 2*page)
	for name, touch := range map[string]func(){
		"load":  func() { sink[0] = b[page] },
		"store": func() { b[2*page] = 1 },
		"copy":  func() { copy(sink, b[page:]) },
	} {
		if err := Guard(func() error { touch(); return nil }); !errors.Is(err, ErrFault) {
			t.Errorf("%s behind the end = %v, want ErrFault", name, err)
		}
	}
	if debug.SetPanicOnFault(false) {
		t.Error("faults are panics after Guard")
	}
	if err := Guard(func() error { sink[0] = b[page-1]; return nil }); err != nil {
		t.Errorf("before the end: %v", err)
	}
	// The system meets it, too.
	other := create(t, path+"2", nil)
	if _, err := other.WriteAt(b[2*page:], 0); !errors.Is(err, ErrFault) || !errors.Is(err, syscall.EFAULT) {
		t.Errorf("write from behind the end = %v, want ErrFault", err)
	}
}
