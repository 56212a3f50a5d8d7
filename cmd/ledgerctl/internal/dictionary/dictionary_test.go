package dictionary

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ledger/stream"
)

func TestDictionary(t *testing.T) {
	dir, id := t.TempDir(), [16]byte{7}
	d, err := Load(dir, id)
	if err != nil || d.Has("sym") {
		t.Fatalf("none: %v, %v", d, err)
	}
	for i, text := range []string{"BTC-USD", "ETH-USD", "BTC-USD", "Ünï", "ETH-USD"} {
		want := []uint64{1, 2, 1, 3, 2}[i]
		if n, err := d.Assign("sym", text); n != want || err != nil {
			t.Errorf("%q has the number %d, %v, want %d", text, n, err, want)
		}
	}
	for _, bad := range []string{"", "a\nb", "\xff", strings.Repeat("x", 257), "\x7f"} {
		if _, err := d.Assign("sym", bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	d.Widen("sym", 2, 3, 5)
	d.Widen("sym", 2, 1, 7)
	d.Widen("sym", 9, 1, 7)
	if err := d.SetTick("sym", "BTC-USD", "0.01"); err != nil {
		t.Fatal(err)
	}
	if err := d.SetTick("sym", "BTC-USD", "0.02"); err == nil {
		t.Error("another tick is taken")
	}
	c := d.Clone()
	if n, _ := c.Assign("sym", "more"); n != 4 {
		t.Errorf("the copy goes on with %d", n)
	}
	if err := d.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Load(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	if e := again.Entry("sym", 2); e != (Entry{Text: "ETH-USD", PxScale: 3, QtyScale: 7}) {
		t.Errorf("read again: %+v", e)
	}
	if text, ok := again.Text("sym", 3); text != "Ünï" || !ok {
		t.Errorf("3 is %q", text)
	}
	for _, n := range []uint64{0, 4, 1 << 40} {
		if text, ok := again.Text("sym", n); ok {
			t.Errorf("%d is %q", n, text)
		}
	}
	if n, err := again.Assign("sym", "next"); n != 4 || err != nil {
		t.Errorf("it goes on with %d, %v", n, err)
	}
}

// TestSaveSome: texts above a number stay in memory, and are written later.
func TestSaveSome(t *testing.T) {
	dir, id := t.TempDir(), [16]byte{7}
	d := New(id)
	for _, text := range []string{"a", "b", "c"} {
		for _, field := range []string{"sym", "acct"} {
			if _, err := d.Assign(field, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct{ upTo, sym int }{{0, 0}, {2, 2}, {2, 2}, {3, 3}, {9, 3}} {
		if err := d.SaveSome(dir, map[string]uint64{"sym": uint64(step.upTo)}); err != nil {
			t.Fatal(err)
		}
		again, err := Load(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		if again.Len("sym") != step.sym || again.Len("acct") != 3 || d.Len("sym") != 3 {
			t.Errorf("up to %d: %d and %d texts on disk, %d in memory", step.upTo, again.Len("sym"), again.Len("acct"), d.Len("sym"))
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	d := New([16]byte{1})
	if _, err := d.Assign("sym", "x"); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, [16]byte{2}); !errors.Is(err, stream.ErrCorrupt) {
		t.Errorf("another stream's: %v", err)
	}
	path := filepath.Join(dir, File)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[20] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, [16]byte{1}); !errors.Is(err, stream.ErrCorrupt) {
		t.Errorf("damaged: %v", err)
	}
}
