package disk_test

import (
	"errors"
	"io/fs"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/disk/sim"
)

// content reads all of /f, and fails the test if it can't.
func content(t *testing.T, fsys disk.FS) string {
	t.Helper()
	f, err := fsys.Open("/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withOld is a disk on which /f holds "old" for certain.
func withOld(t *testing.T) *sim.Disk {
	t.Helper()
	d := sim.NewSectors(2)
	if late, err := disk.Replace(d.FS(), "/f", disk.Content([]byte("old"))); late != nil || err != nil {
		t.Fatal(late, err)
	}
	return d
}

// TestReplaceCut: a power cut at any operation of Replace leaves the old file or
// the new one, whole; behind it, the new one.
func TestReplaceCut(t *testing.T) {
	for n := 1; ; n++ {
		d := withOld(t)
		at, images := d.Ops()+n, 0
		d.SetHook(func(op sim.Op) error {
			if op.N == at {
				return sim.ErrCrashed
			}
			return nil
		})
		late, err := disk.Replace(d.FS(), "/f", disk.Content([]byte("new one")))
		done := late == nil && err == nil
		for img := range d.AllCuts() {
			images++
			if got := content(t, img.FS()); got != "new one" && (done || got != "old") {
				t.Fatalf("cut at operation %d: %q", n, got)
			}
		}
		if images == 0 {
			t.Fatal("no image")
		}
		if done {
			if n < 7 {
				t.Errorf("done in %d operations", n)
			}
			return
		}
	}
}

// TestReplaceFails: an operation that fails leaves the old file and no other, but
// for the directory's sync, which comes too late for that.
func TestReplaceFails(t *testing.T) {
	boom := errors.New("boom")
	for n := 1; ; n++ {
		d := withOld(t)
		at := d.Ops() + n
		var failed sim.Kind
		d.SetHook(func(op sim.Op) error {
			if op.N != at {
				return nil
			}
			failed = op.Kind
			return boom
		})
		late, err := disk.Replace(d.FS(), "/f", disk.Content([]byte("new one")))
		d.SetHook(nil)
		want := "old"
		switch {
		case late == nil && err == nil:
			if n < 6 {
				t.Errorf("done in %d operations", n)
			}
			return
		case failed == sim.OpSyncDir:
			want = "new one"
			if !errors.Is(late, boom) || err != nil {
				t.Errorf("%v: late %v, err %v", failed, late, err)
			}
		case late != nil || !errors.Is(err, boom):
			t.Errorf("%v: late %v, err %v", failed, late, err)
		}
		if got := content(t, d.FS()); got != want {
			t.Errorf("behind a failed %v: %q", failed, got)
		}
		if _, err := d.FS().Stat("/f.tmp"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("behind a failed %v there is a temporary file: %v", failed, err)
		}
	}
}

func TestMake(t *testing.T) {
	d := withOld(t)
	for _, sync := range []bool{false, true} {
		for want, fill := range map[string]func(disk.File) error{"": disk.Content(nil), "abc": disk.Content([]byte("abc")), "\x00\x00": disk.Zeros(2)} {
			syncs := 0
			d.SetHook(func(op sim.Op) error {
				if op.Kind == sim.OpSync {
					syncs++
				}
				return nil
			})
			if err := disk.Make(d.FS(), "/f", sync, fill); err != nil {
				t.Fatal(err)
			}
			d.SetHook(nil)
			if got := content(t, d.FS()); got != want || (syncs == 1) != sync {
				t.Errorf("%q for %q, %d syncs", got, want, syncs)
			}
		}
	}
}
