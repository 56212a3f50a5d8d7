package importer

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"example.com/ledger/stream"
)

// pack compresses content in every way that an input may be.
func pack(t *testing.T, content string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"x.csv": []byte(content)}
	add := func(name string, open func(io.Writer) (io.WriteCloser, error)) {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	add("x.csv.gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	add("x.csv.zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	add("x.csv.xz", func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("folder/"); err != nil {
		t.Fatal(err)
	}
	w, err := z.Create("folder/x.csv")
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	out["x.zip"] = b.Bytes()
	return out
}

// TestCompressed: however a file is packed it has the same records, and it is the
// same file: imported as another packing again, nothing is appended.
func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: filepath.Join(dir, "s"), Preset: preset(t, "kraken"), Stream: stream.Options{Durability: stream.Os, Capacity: 64}}
	packed := pack(t, manyRows(50))
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range packed {
			if !yield(name) {
				return
			}
		}
	})
	if len(names) != 5 {
		t.Fatal(names)
	}
	for i, name := range names {
		o.Paths = []string{filepath.Join(dir, name)}
		if err := os.WriteFile(o.Paths[0], packed[name], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Import(t.Context(), o)
		if err != nil || r.Records != 50 || (r.Appended == 50) != (i == 0) || (r.There == 50) != (i > 0) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if n := len(records(t, o.Dir)); n != 50 {
		t.Errorf("%d records", n)
	}
}

// TestStdin: every packing but zip is read from a pipe too.
func TestStdin(t *testing.T) {
	for name, b := range pack(t, manyRows(50)) {
		o := Options{Dir: filepath.Join(t.TempDir(), "s"), Paths: []string{"-"}, Stdin: bytes.NewReader(b), Preset: preset(t, "kraken"),
			Stream: stream.Options{Durability: stream.Os, Capacity: 64}}
		r, err := Import(t.Context(), o)
		if name == "x.zip" {
			if err == nil || !strings.Contains(err.Error(), "give it as a file") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || r.Appended != 50 || r.Records != 50 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := openAll(t.Context(), []string{"-", "-"}, nil, nil); err == nil {
		t.Error("standard input twice")
	}
}

// TestDamagedInput: a packed file that is cut or changed is refused before
// anything of it is appended.
func TestDamagedInput(t *testing.T) {
	for name, b := range pack(t, manyRows(2000)) {
		if name == "x.csv" {
			continue
		}
		for what, bad := range map[string][]byte{"cut": b[:len(b)-9], "changed": flipped(b)} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{Dir: filepath.Join(t.TempDir(), "s"), Paths: []string{path}, Preset: preset(t, "kraken")}
			r, err := Import(t.Context(), o)
			if err == nil || r.Appended != 0 || dump(t, o.Dir) != nil {
				t.Errorf("%s %s: %+v, %v", name, what, r, err)
			}
		}
	}
}

func flipped(b []byte) []byte {
	c := bytes.Clone(b)
	c[len(c)/2] ^= 0x10
	return c
}
