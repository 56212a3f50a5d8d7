package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated: the files that are checked in are what the generator writes.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	asm, stubs := filepath.Join(dir, "k.s"), filepath.Join(dir, "k.go")
	if out, err := exec.Command("go", "run", ".", "-out", asm, "-stubs", stubs, "-pkg", "kern").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for want, got := range map[string]string{"../kern_amd64.s": asm, "../stubs_amd64.go": stubs} {
		a, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(got)
		if err != nil {
			t.Fatal(err)
		}
		// The first line has the command.
		_, a, _ = bytes.Cut(a, []byte("\n"))
		_, b, _ = bytes.Cut(b, []byte("\n"))
		if !bytes.Equal(a, b) {
			t.Errorf("%s is not what the generator writes: run go generate", want)
		}
	}
}
