package frozen

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"example.com/ledger/internal/disk"
)

func TestDir(t *testing.T) {
	d := Dir{"b": []byte("bytes"), "a": nil, "folder/c": []byte("1")}
	want := []disk.Entry{{Name: "a", Regular: true}, {Name: "b", Size: 5, Regular: true}, {Name: "folder", Dir: true}}
	if got, err := d.ReadDir("s"); err != nil || !slices.Equal(got, want) {
		t.Errorf("ReadDir = %v, %v", got, err)
	}
	if got, err := d.ReadDir("s/folder"); err != nil || len(got) != 1 || got[0].Name != "c" {
		t.Errorf("ReadDir of the folder = %v, %v", got, err)
	}
	for p, want := range map[string]disk.Entry{
		"s": {Name: "s", Dir: true}, "s/folder": {Name: "folder", Dir: true}, "s/b": {Name: "b", Size: 5, Regular: true},
	} {
		if got, err := d.Stat(p); err != nil || got != want {
			t.Errorf("Stat(%s) = %v, %v", p, got, err)
		}
	}
	for _, p := range []string{"b", "s/c", "s/fold", "t/b", "/s/b"} {
		_, err1 := d.Open(p)
		_, err2 := d.Stat(p)
		_, err3 := d.ReadDir(p)
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
	f, err := d.Open("s/folder/c")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2)
	if n, err := f.ReadAt(b, 0); n != 1 || err == nil || b[0] != '1' {
		t.Errorf("ReadAt = %d, %v", n, err)
	}
	if _, err := f.WriteAt(b, 0); !errors.Is(err, ErrWrite) {
		t.Errorf("WriteAt: %v", err)
	}
	c := d.Clone()
	c["b"][0] = 'x'
	if string(d["b"]) != "bytes" || d.Size() != 6 || !slices.Equal(d.Names(), []string{"a", "b", "folder/c"}) {
		t.Errorf("%q, %d bytes, %v", d["b"], d.Size(), d.Names())
	}
}
