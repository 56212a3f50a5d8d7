package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/stream"
)

type content struct {
	Version int      `json:"version"`
	Texts   []string `json:"texts"`
}

func TestWriteRead(t *testing.T) {
	dir := t.TempDir()
	var c content
	if ok, err := Read(dir, "x.json", &c); ok || err != nil {
		t.Fatalf("no file: %v, %v", ok, err)
	}
	for _, want := range []content{{1, []string{"a", `,` + "\n" + `  "crc": "`}}, {2, nil}} {
		if err := Write(dir, "x.json", want); err != nil {
			t.Fatal(err)
		}
		var got content
		if ok, err := Read(dir, "x.json", &got); !ok || err != nil || got.Version != want.Version || len(got.Texts) != len(want.Texts) {
			t.Fatalf("%+v, %v, %v, want %+v", got, ok, err, want)
		}
	}
	if e, _ := os.ReadDir(dir); len(e) != 1 {
		t.Fatalf("left %v", e)
	}
	if _, err := Encode(struct{}{}); err == nil {
		t.Error("an object without members is encoded")
	}
}

// TestDamage: no byte can be changed, cut or added without being noticed.
func TestDamage(t *testing.T) {
	good, err := Encode(content{1, []string{"BTC-USD"}})
	if err != nil {
		t.Fatal(err)
	}
	var c content
	if err := Decode(good, &c); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 4
		if err := Decode(bad, &c); err == nil {
			t.Errorf("byte %d of %q is changed, and nothing says so", i, good)
		}
		if err := Decode(good[:i], &c); err == nil {
			t.Errorf("%q is cut, and nothing says so", good[:i])
		}
	}
	if err := Decode(append(good, '\n'), &c); err == nil {
		t.Error("a byte more, and nothing says so")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.json"), good[:10], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, "x.json", &c); !errors.Is(err, stream.ErrCorrupt) {
		t.Errorf("a cut file: %v", err)
	}
}
