package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/ledger/internal/disk"
)

// A script is what an engine does to a disk, with errors as the test's.
type script struct {
	t *testing.T
	d *Disk
	disk.FS
}

func newScript(t *testing.T, d *Disk) script { return script{t, d, d.FS()} }

func (s script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s script) create(path, content string) disk.File {
	s.t.Helper()
	f, err := s.Create(path)
	s.must(err)
	s.write(f, content, 0)
	return f
}

func (s script) openRW(path string) disk.File {
	s.t.Helper()
	f, err := s.OpenRW(path)
	s.must(err)
	return f
}

func (s script) write(f disk.File, content string, off int64) {
	s.t.Helper()
	_, err := f.WriteAt([]byte(content), off)
	s.must(err)
}

func (s script) mapped(f disk.File, n int, writable bool) disk.Mapping {
	s.t.Helper()
	m, err := f.Map(n, writable)
	s.must(err)
	return m
}

// durable makes a file that is settled, name and all.
func (s script) durable(path, content string) disk.File {
	s.t.Helper()
	f := s.create(path, content)
	s.must(f.Sync())
	s.must(s.SyncDir("/"))
	return f
}

// show lists an image: name=content, zeros as dots, directories as name/.
func show(d *Disk) string {
	var out []string
	d.root.walk("", func(path string, n *node) {
		path = strings.TrimPrefix(path, "/")
		switch {
		case path == "":
		case n.dir:
			out = append(out, path+"/")
		default:
			out = append(out, path+"="+strings.ReplaceAll(string(n.content()), "\x00", "."))
		}
	})
	return strings.Join(out, " ")
}

// cuts lists all images, sorted, each once.
func cuts(d *Disk) []string {
	var all []string
	for img := range d.AllCuts() {
		all = append(all, show(img))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestCuts has each rule of what a power cut leaves, with sectors of two bytes.
func TestCuts(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s script)
		want []string
	}{
		{"nothing", func(script) {}, []string{""}},
		{"name of a new file", func(s script) { s.create("a", "") }, []string{"", "a="}},
		{"sync of a file isn't its name's", func(s script) { s.must(s.create("a", "x").Sync()) }, []string{"", "a=x"}},
		{"sync of a name isn't the file's", func(s script) { s.create("a", "xy"); s.must(s.SyncDir("/")) },
			[]string{"a=", "a=..", "a=xy"}},
		{"durable", func(s script) { s.durable("a", "xyz") }, []string{"a=xyz"}},
		{"data sync settles the size", func(s script) {
			f := s.durable("a", "x")
			s.write(f, "yz", 1)
			s.must(f.DataSync())
		}, []string{"a=xyz"}},
		{"sync through another description", func(s script) {
			f := s.durable("a", "x")
			s.write(f, "y", 0)
			s.must(s.openRW("a").DataSync())
		}, []string{"a=y"}},
		{"sectors apart", func(s script) { s.write(s.durable("a", "abcd"), "ABCD", 0) },
			[]string{"a=ABCD", "a=ABcd", "a=abCD", "a=abcd"}},
		{"the same bytes are no version", func(s script) { s.write(s.durable("a", "abcd"), "abcD", 0) },
			[]string{"a=abcD", "a=abcd"}},
		{"versions between", func(s script) {
			f := s.durable("a", "a")
			s.write(f, "b", 0)
			s.write(f, "c", 0)
		}, []string{"a=a", "a=b", "a=c"}},
		{"back to the first", func(s script) {
			f := s.durable("a", "a")
			s.write(f, "b", 0)
			s.write(f, "a", 0)
		}, []string{"a=a", "a=b"}},
		{"sizes between, a hole", func(s script) {
			f := s.durable("a", "")
			s.write(f, "b", 0)
			s.write(f, "c", 3)
		}, []string{"a=", "a=.", "a=....", "a=...c", "a=b", "a=b...", "a=b..c"}},
		{"emptied", func(s script) { s.durable("a", "ab"); s.create("a", "") }, []string{"a=", "a=..", "a=ab"}},
		{"emptied and written", func(s script) { s.durable("a", "ab"); s.create("a", "c") },
			[]string{"a=", "a=.", "a=..", "a=a", "a=ab", "a=c", "a=c."}},
		{"removed comes back", func(s script) { s.durable("a", "x"); s.must(s.Remove("a")) }, []string{"", "a=x"}},
		{"removed, synced", func(s script) { s.durable("a", "x"); s.must(s.Remove("a")); s.must(s.SyncDir("/")) },
			[]string{""}},
		{"rename", func(s script) { s.durable("a", "x"); s.must(s.Rename("a", "b")) },
			[]string{"", "a=x", "a=x b=x", "b=x"}},
		{"rename, synced", func(s script) {
			s.durable("a", "x")
			s.must(s.Rename("a", "b"))
			s.must(s.SyncDir("/"))
		}, []string{"b=x"}},
		{"rename over another", func(s script) {
			s.durable("b", "old")
			s.durable("a", "new")
			s.must(s.Rename("a", "b"))
		}, []string{"a=new b=new", "a=new b=old", "b=new", "b=old"}},
		{"rename of an unsynced file, synced", func(s script) {
			s.create("a", "x")
			s.must(s.Rename("a", "b"))
			s.must(s.SyncDir("/"))
		}, []string{"b=", "b=.", "b=x"}},
		{"rename to itself", func(s script) { s.durable("a", "x"); s.must(s.Rename("a", "/./a")) }, []string{"a=x"}},
		{"made, removed, made", func(s script) {
			s.must(s.create("a", "1").Sync())
			s.must(s.Remove("a"))
			s.must(s.create("a", "2").Sync())
		}, []string{"", "a=1", "a=2"}},
		{"directory", func(s script) {
			s.must(s.Mkdir("d"))
			s.must(s.create("d/a", "x").Sync())
			s.must(s.SyncDir("d"))
		}, []string{"", "d/ d/a=x"}},
		{"directory, its parent synced only", func(s script) {
			s.must(s.Mkdir("d"))
			s.must(s.create("d/a", "x").Sync())
			s.must(s.SyncDir("/"))
		}, []string{"d/", "d/ d/a=x"}},
		{"between directories", func(s script) {
			s.must(s.Mkdir("d"))
			s.durable("a", "x")
			s.must(s.Rename("a", "d/b"))
			s.must(s.SyncDir("d"))
		}, []string{"a=x d/ d/b=x", "d/ d/b=x"}},
		{"directories that crossed", func(s script) {
			s.must(s.Mkdir("d"))
			s.must(s.Mkdir("d/e"))
			s.must(s.SyncDir("d"))
			s.must(s.SyncDir("/"))
			s.must(s.Rename("d/e", "e"))
			s.must(s.SyncDir("/"))
			s.must(s.Rename("d", "e/d"))
			s.must(s.SyncDir("e"))
		}, []string{"d/ d/e/ e/ e/d/", "d/ e/ e/d/", "e/ e/d/"}},
		{"removed while open", func(s script) {
			f := s.durable("a", "x")
			s.must(s.Remove("a"))
			s.write(f, "y", 0)
			s.must(f.Sync())
		}, []string{"", "a=y"}},
		{"mapped stores", func(s script) {
			s.mapped(s.durable("a", "abcd"), 4, true).Bytes()[3] = 'D'
		}, []string{"a=abcD", "a=abcd"}},
		{"mapped stores, synced", func(s script) {
			f := s.durable("a", "abcd")
			s.mapped(f, 4, true).Bytes()[3] = 'D'
			s.must(s.openRW("a").DataSync())
		}, []string{"a=abcD"}},
		{"mapped stores between looks", func(s script) {
			m := s.mapped(s.durable("a", "a"), 1, true)
			for _, b := range []byte("bcde") {
				m.Bytes()[0] = b // c isn't seen by anyone
				switch b {
				case 'b':
					s.d.Notice()
				case 'd':
					s.create("x", "")
					s.must(s.SyncDir("/"))
				}
			}
		}, []string{"a=a x=", "a=b x=", "a=d x=", "a=e x="}},
		{"mapped stores, unmapped", func(s script) {
			m := s.mapped(s.durable("a", "abcd"), 4, true)
			m.Bytes()[0] = 'A'
			s.must(m.Unmap())
		}, []string{"a=Abcd", "a=abcd"}},
		{"mapped stores after the mapping", func(s script) {
			f := s.durable("a", "abcd")
			m := s.mapped(f, 4, true)
			m.Bytes()[0] = 'A'
			s.must(m.Unmap())
			m.Bytes()[1] = 'B'
			s.must(f.Sync())
		}, []string{"a=Abcd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, NewSectors(2))
			c.do(s)
			slices.Sort(c.want)
			if got := cuts(s.d); !slices.Equal(got, c.want) {
				t.Errorf("images\n%q, want\n%q", got, c.want)
			}
			// A kill keeps all, and what it leaves to a power cut is the same.
			now := show(s.d)
			k := s.d.Kill()
			if got := show(k); got != now {
				t.Errorf("after a kill %q, want %q", got, now)
			}
			if got := cuts(k); !slices.Equal(got, c.want) {
				t.Errorf("images after a kill\n%q, want\n%q", got, c.want)
			}
			// The newest of everything is what can be read, the oldest is the first image.
			if got := show(s.d.Cut(func(n int) int { return n - 1 })); got != now {
				t.Errorf("with everything kept %q, want %q", got, now)
			}
			for first := range s.d.AllCuts() {
				if got := show(s.d.Cut(func(int) int { return 0 })); got != show(first) {
					t.Errorf("with nothing kept %q, the first image is %q", got, show(first))
				}
				break
			}
		})
	}
}

// TestFailedSync: what a failed sync leaves undecided no later one settles,
// unless it is written again.
func TestFailedSync(t *testing.T) {
	eio := func(op Op) error {
		if op.Kind == OpSync || op.Kind == OpDataSync {
			return syscall.EIO
		}
		return nil
	}
	for _, c := range []struct {
		name string
		do   func(s script, f disk.File) // after the failure
		want []string
	}{
		{"nothing more", func(s script, f disk.File) {}, []string{"a=AB", "a=Ab", "a=aB", "a=ab"}},
		{"synced again", func(s script, f disk.File) { s.must(f.Sync()); s.must(f.DataSync()) },
			[]string{"a=AB", "a=Ab", "a=aB", "a=ab"}},
		{"written again in part", func(s script, f disk.File) { s.write(f, "B", 1); s.must(f.Sync()) },
			[]string{"a=AB", "a=aB"}},
		{"the same bytes again", func(s script, f disk.File) { s.write(f, "AB", 0); s.must(f.DataSync()) },
			[]string{"a=AB"}},
		{"the same bytes, not synced", func(s script, f disk.File) { s.write(f, "AB", 0) },
			[]string{"a=AB", "a=Ab", "a=aB", "a=ab"}},
		{"others", func(s script, f disk.File) { s.write(f, "XY", 0); s.must(f.DataSync()) }, []string{"a=XY"}},
		{"a longer file", func(s script, f disk.File) { s.write(f, "c", 2); s.must(f.DataSync()) },
			[]string{"a=ABc", "a=Abc", "a=aBc", "a=abc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, NewSectors(1))
			f := s.durable("a", "ab")
			s.write(f, "AB", 0)
			s.d.SetHook(eio)
			if err := f.DataSync(); !errors.Is(err, syscall.EIO) {
				t.Fatalf("DataSync = %v, want EIO", err)
			}
			s.d.SetHook(nil)
			b := make([]byte, 2)
			if _, err := f.ReadAt(b, 0); err != nil || string(b) != "AB" {
				t.Fatalf("read back %q, %v, want what was written", b, err)
			}
			k := s.d.Kill() // what failed stays so for the next process
			c.do(s, f)
			ks := newScript(t, k)
			c.do(ks, ks.openRW("a"))
			for _, d := range []*Disk{s.d, k} {
				if got := cuts(d); !slices.Equal(got, c.want) {
					t.Errorf("images %q, want %q", got, c.want)
				}
			}
		})
	}

	t.Run("size", func(t *testing.T) {
		undecided := []string{"a=", "a=.", "a=x"}
		for name, c := range map[string]struct {
			again func(s script, f disk.File)
			want  []string
		}{
			"not written again": {func(s script, f disk.File) {}, undecided},
			"written again":     {func(s script, f disk.File) { s.write(f, "x", 0) }, []string{"a=x"}},
			"stored again":      {func(s script, f disk.File) { s.mapped(f, 1, true).Bytes()[0] = 'y' }, []string{"a=y"}},
		} {
			s := newScript(t, New())
			f := s.durable("a", "")
			s.write(f, "x", 0)
			s.d.SetHook(eio)
			_ = f.Sync()
			s.d.SetHook(nil)
			for _, s := range []script{newScript(t, s.d.Kill()), s} {
				f := s.openRW("a")
				c.again(s, f)
				s.must(f.Sync())
				if got := cuts(s.d); !slices.Equal(got, c.want) {
					t.Errorf("%s: images %q, want %q", name, got, c.want)
				}
			}
		}
	})

	t.Run("mapped", func(t *testing.T) {
		s := newScript(t, NewSectors(1))
		f := s.durable("a", "ab")
		m := s.mapped(f, 2, true)
		m.Bytes()[0] = 'A'
		s.d.SetHook(eio)
		_ = f.DataSync()
		s.d.SetHook(nil)
		m.Bytes()[1] = 'B'
		s.must(f.DataSync())
		if got, want := cuts(s.d), []string{"a=AB", "a=aB"}; !slices.Equal(got, want) {
			t.Errorf("images %q, want %q", got, want)
		}
	})

	t.Run("evicted", func(t *testing.T) {
		s := newScript(t, NewSectors(1))
		f := s.durable("a", "ab")
		s.write(f, "AB", 0)
		s.d.SetHook(eio)
		_ = f.Sync()
		s.d.SetHook(nil)
		s.write(f, "X", 1) // dirty again: not evicted
		s.d.Evict(func(n int) int { return 0 })
		if got, want := cuts(s.d), []string{"a=aB", "a=aX", "a=ab"}; show(s.d) != "a=aX" || !slices.Equal(got, want) {
			t.Errorf("reads %q, images %q, want %q", show(s.d), got, want)
		}
	})
}

// TestWhoIsTold: an error of writing back is told once to each description
// opened before it.
func TestWhoIsTold(t *testing.T) {
	s := newScript(t, New())
	f1 := s.durable("a", "x")
	f2 := s.openRW("a")
	s.write(f2, "y", 0)
	s.d.SetHook(func(op Op) error {
		if op.Desc == 1 && op.Kind == OpDataSync {
			return syscall.ENOSPC
		}
		return nil
	})
	for i := range 2 { // a hook that goes on failing is new each time
		if err := f1.DataSync(); !errors.Is(err, disk.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("sync %d = %v, want ENOSPC", i, err)
		}
	}
	s.d.SetHook(nil)
	f3 := s.openRW("a") // after it, and it was told
	for _, c := range []struct {
		name string
		f    disk.File
		want error
	}{{"first", f1, nil}, {"second", f2, syscall.ENOSPC}, {"second again", f2, nil}, {"third", f3, nil}} {
		if err := c.f.Sync(); !errors.Is(err, c.want) {
			t.Errorf("%s description: sync = %v, want %v", c.name, err, c.want)
		}
	}

	s.write(f1, "z", 0)
	s.must(s.d.FailWriteback("a", syscall.EIO))
	f4 := s.openRW("a") // nobody was told yet
	for i, f := range []disk.File{f1, f2, f3, f4} {
		if err := f.DataSync(); !errors.Is(err, syscall.EIO) {
			t.Errorf("description %d: sync after a failed writing back = %v, want EIO", i+1, err)
		}
		if err := f.DataSync(); err != nil {
			t.Errorf("description %d: the error is told twice: %v", i+1, err)
		}
	}
	if got, want := cuts(s.d), []string{"a=x", "a=y", "a=z"}; !slices.Equal(got, want) {
		t.Errorf("images %q, want %q", got, want)
	}
	s.write(f1, "z", 0)
	s.must(s.d.FailWriteback("a", syscall.EIO))
	k := newScript(t, s.d.Kill())
	if err := k.openRW("a").Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("the next process isn't told: %v", err)
	}
	if err := s.d.FailWriteback("b", syscall.EIO); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("FailWriteback of nothing = %v", err)
	}
}

func TestHook(t *testing.T) {
	s := newScript(t, New())
	f := s.durable("a", "abc")
	l, err := s.Lock("/")
	s.must(err)

	// Every operation can fail, and then does nothing.
	before := fmt.Sprint(s.d, s.d.Pending())
	var trace Trace
	s.d.SetHook(trace.Hook(FailFrom(0, syscall.EDQUOT)))
	for name, op := range map[string]func() error{
		"open":     func() error { _, err := s.Open("a"); return err },
		"openrw":   func() error { _, err := s.OpenRW("a"); return err },
		"create":   func() error { _, err := s.Create("a"); return err },
		"mkdir":    func() error { return s.Mkdir("d") },
		"rename":   func() error { return s.Rename("a", "b") },
		"remove":   func() error { return s.Remove("a") },
		"readdir":  func() error { _, err := s.ReadDir("/"); return err },
		"stat":     func() error { _, err := s.Stat("a"); return err },
		"syncdir":  func() error { return s.SyncDir("/") },
		"lock":     func() error { _, err := s.Lock("/"); return err },
		"free":     func() error { _, err := s.Free("/"); return err },
		"read":     func() error { _, err := f.ReadAt(make([]byte, 1), 0); return err },
		"write":    func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
		"size":     func() error { _, err := f.Size(); return err },
		"sync":     f.Sync,
		"datasync": f.DataSync,
		"map":      func() error { _, err := f.Map(1, true); return err },
	} {
		if err := op(); !errors.Is(err, syscall.EDQUOT) || !errors.Is(err, disk.ErrNoSpace) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v, want EDQUOT", name, err)
		}
		if ops := trace.Ops(); ops[len(ops)-1].Kind.String() != name {
			t.Errorf("%s was told to the hook as %v", name, ops[len(ops)-1])
		}
	}
	if after := fmt.Sprint(s.d, s.d.Pending()); after != before {
		t.Errorf("failed operations made %s of %s", after, before)
	}
	if err := l.Close(); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("unlock = %v, want EDQUOT", err)
	}
	s.d.SetHook(nil)

	n := s.d.Ops()
	s.d.SetHook(FailAt(n+2, &ShortWrite{N: 2, Err: syscall.EINTR}))
	s.write(f, "A", 0)
	if n, err := f.WriteAt([]byte("BCD"), 1); n != 2 || !errors.Is(err, syscall.EINTR) {
		t.Errorf("short write = %d, %v, want 2, EINTR", n, err)
	}
	s.write(f, "d", 3)
	s.d.SetHook(FailAt(n+4, &Late{syscall.EIO}))
	if err := s.Rename("a", "b"); !errors.Is(err, syscall.EIO) {
		t.Errorf("late rename = %v, want EIO", err)
	}
	if got, want := show(s.d), "b=ABCd"; got != want {
		t.Errorf("the disk has %q, want %q", got, want)
	}
}

func TestCrash(t *testing.T) {
	s := newScript(t, NewSectors(1))
	f := s.durable("a", "ab")
	m := s.mapped(f, 2, true)
	l, err := s.Lock("/")
	s.must(err)
	m.Bytes()[0] = 'A'
	s.d.SetHook(func(op Op) error {
		if op.Kind == OpRemove {
			return ErrCrashed
		}
		return nil
	})
	if err := s.Remove("a"); !errors.Is(err, ErrCrashed) {
		t.Fatalf("Remove = %v, want ErrCrashed", err)
	}
	m.Bytes()[1] = 'B' // a dead process's goroutine goes on
	for name, err := range map[string]error{
		"write": func() error { _, err := f.WriteAt([]byte("x"), 0); return err }(),
		"sync":  f.Sync(), "close": f.Close(), "unmap": m.Unmap(), "unlock": l.Close(),
		"mkdir": s.Mkdir("d"), "syncdir": s.SyncDir("/"),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s after the crash = %v", name, err)
		}
	}
	if got, want := cuts(s.d), []string{"a=Ab", "a=ab"}; !slices.Equal(got, want) {
		t.Errorf("images %q, want %q", got, want)
	}
	k := newScript(t, s.d.Kill())
	if show(k.d) != "a=Ab" {
		t.Errorf("after a kill %q", show(k.d))
	}
	if _, err := k.Lock("/"); err != nil {
		t.Errorf("the dead one's lock holds: %v", err)
	}
	if _, err := k.Lock("/"); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second lock = %v, want ErrLocked", err)
	}

}

// TestImagesStandAlone: what is done to an image, or to the disk after it was
// made, changes no other, though they share what they can.
func TestImagesStandAlone(t *testing.T) {
	s := newScript(t, NewSectors(2))
	f := s.durable("a", "abc")
	g := s.durable("b", "uvw")
	s.durable("c", "c")
	r := s.mapped(s.openRW("b"), 3, false)
	disks := []script{s}
	for range 3 {
		disks = append(disks, newScript(t, s.d.Kill()), newScript(t, s.d.Cut(func(int) int { return 0 })))
	}
	for i, img := range disks[1:] {
		m := img.mapped(img.openRW("b"), 3, true)
		m.Bytes()[0] = byte('1' + i)
		img.write(img.openRW("b"), "!", 1)
		if got := string(m.Bytes()); got != fmt.Sprintf("%d!w", i+1) {
			t.Errorf("a mapping in image %d shows %q", i+1, got)
		}
		m = img.mapped(img.openRW("c"), 1, false)
		img.write(img.openRW("c"), string(rune('1'+i)), 0)
		if got := string(m.Bytes()); got != fmt.Sprint(i+1) {
			t.Errorf("a mapping of a shared file in image %d shows %q", i+1, got)
		}
		img.write(img.openRW("a"), string(rune('1'+i)), 3) // longer, in the room that it has
	}
	s.write(f, "0", 3)
	s.write(g, "0", 0)
	if got := string(r.Bytes()); got != "0vw" {
		t.Errorf("a mapping made before the images shows %q", got)
	}
	sums := make(map[uint64]bool)
	for i, img := range disks {
		want := fmt.Sprintf("a=abc%d b=%d!w c=%d", i, i, i)
		if i == 0 {
			want = "a=abc0 b=0vw c=c"
		}
		if got := show(img.d); got != want {
			t.Errorf("disk %d has %q, want %q", i, got, want)
		}
		sums[img.d.Sum()] = true
		if img.d.Kill().Sum() != img.d.Sum() {
			t.Errorf("disk %d: Sum isn't that of its image", i)
		}
	}
	if len(sums) != len(disks) {
		t.Errorf("%d disks have %d sums", len(disks), len(sums))
	}
}

// TestPending: Cut asks about each cell once, in the order of Pending.
func TestPending(t *testing.T) {
	s := newScript(t, New())
	f := s.create("a", "x")
	s.write(f, "y", 0)
	s.write(f, "z", 512)
	s.create("b", "")
	want := []int{2, 2, 3, 3, 2} // two names, sizes 0 1 513, sectors nothing x y, nothing z
	if got := s.d.Pending(); !slices.Equal(got, want) {
		t.Errorf("Pending = %v, want %v", got, want)
	}
	var asked []int
	s.d.Cut(func(n int) int { asked = append(asked, n); return 0 })
	if !slices.Equal(asked, want) {
		t.Errorf("Cut asked for %v, want %v", asked, want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	if got := show(s.d.CutRandom(rng, 0)); got != "" {
		t.Errorf("with nothing kept %q", got)
	}
	if img := s.d.CutRandom(rng, 1); img.Sum() != s.d.Sum() || len(img.Pending()) != 0 {
		t.Errorf("with everything kept %v", img)
	}
}

func TestCapacity(t *testing.T) {
	s := newScript(t, New())
	s.d.SetCapacity(10)
	a := s.create("a", "123456")
	b := s.create("b", "")
	if n, err := b.WriteAt([]byte("123456"), 0); n != 4 || !errors.Is(err, disk.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("write to a full disk = %d, %v", n, err)
	}
	if free, err := s.Free("/"); free != 0 || err != nil {
		t.Errorf("Free = %d, %v", free, err)
	}
	s.write(a, "xxxxxx", 0) // no more than it has
	s.must(s.Remove("a"))
	if free, _ := s.Free("/"); free != 0 {
		t.Errorf("Free = %d with the removed file open", free)
	}
	s.must(a.Close())
	if free, _ := s.Free("/"); free != 6 {
		t.Errorf("Free = %d, want 6", free)
	}
	s.must(s.SyncDir("/"))
	for _, img := range []*Disk{s.d.Kill(), s.d.Cut(func(n int) int { return n - 1 })} {
		if free, _ := img.FS().Free("/"); free != 6 {
			t.Errorf("Free of an image = %d, want 6", free)
		}
	}
}

// TestMappingRules: the memory is the file's; it can't grow under its mapping,
// and is spoilt when the last mapping ends.
func TestMappingRules(t *testing.T) {
	s := newScript(t, New())
	f := s.durable("a", "abcd")
	r := s.mapped(f, 2, false)
	w := s.mapped(s.openRW("a"), 4, true)
	s.must(f.Close())
	w.Bytes()[0] = 'A'
	f = s.openRW("a")
	s.write(f, "B", 1)
	if got := string(r.Bytes()); got != "AB" {
		t.Errorf("a mapping shows %q, want AB", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a file grew under its mapping")
			}
		}()
		_, _ = f.WriteAt([]byte("xyz"), 3)
	}()
	w.WillNeed(0, 4)
	s.must(w.Unmap())
	if got := string(r.Bytes()); got != "AB" {
		t.Errorf("the other mapping shows %q after the first one's end", got)
	}
	s.must(r.Unmap())
	if got := string(r.Bytes()); got == "AB" {
		t.Error("the bytes of an ended mapping can be used")
	}
	s.write(f, "xyz", 3)
	if got := show(s.d); got != "a=ABcxyz" {
		t.Errorf("the file is %q", got)
	}

	// Emptied, the file has other memory, and the mapping's end is nothing to it.
	old := s.mapped(f, 6, true)
	s.create("a", "ABcxyz")
	m := s.mapped(f, 6, true)
	s.must(old.Unmap())
	m.Bytes()[0] = 'Z'
	s.must(f.Sync())
	if got := show(s.d.Cut(func(int) int { return 0 })); got != "a=ZBcxyz" {
		t.Errorf("the file is %q", got)
	}

	ro, err := s.Open("a")
	s.must(err)
	if _, err := ro.Map(1, true); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a writable mapping of a file opened for reading = %v", err)
	}
	for _, n := range []int{-1, 0, 7} {
		if _, err := f.Map(n, false); err == nil {
			t.Errorf("Map(%d) of 6 bytes succeeded", n)
		}
	}
}
