package journal

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Not for a format that files in the field have: those stop opening.
var update = flag.Bool("update", false, "write the golden files anew")

// A part is some bytes and what they mean.
type part struct {
	n       int
	meaning string
}

// checkGolden compares b, a line for each part, with testdata/name.
func checkGolden(t *testing.T, name string, b []byte, parts []part) {
	t.Helper()
	var text strings.Builder
	at := 0
	for _, p := range parts {
		fmt.Fprintf(&text, "%03d-%03d  %-32s  %s\n", at, at+p.n, hex.EncodeToString(b[at:at+p.n]), p.meaning)
		at += p.n
	}
	if at != len(b) {
		t.Fatalf("%s: the parts are %d bytes of %d", name, at, len(b))
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("%s: the bytes are\n%swant\n%s", name, text.String(), want)
	}
}

// readGolden returns the bytes of testdata/name.
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for line := range strings.Lines(string(text)) {
		x, err := hex.DecodeString(strings.Fields(line)[1])
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, x...)
	}
	return b
}
