package importer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdMemory bounds what a decoder takes; files made with --long=31 need it.
const zstdMemory = 2 << 30

// An input is a file, a member of an archive, or standard input.
type input struct {
	name string // for messages
	base string // the file's name without directories and without the endings of compression
	once bool   // it can't be read a second time
	open func() (io.ReadCloser, error)
	free func() // ends the use of what open needs; may be nil

	records uint64 // found by the check
	sum     string // SHA-256 of the content, uncompressed; found by the check
}

func (in *input) close() {
	if in.free != nil {
		in.free()
	}
}

// openAll finds the inputs behind paths. Files themselves are opened one by one.
// When ctx ends nobody waits for those any more that can be read only once.
func openAll(ctx context.Context, paths []string, stdin io.Reader, progress func(int64)) (inputs []input, err error) {
	if progress == nil {
		progress = func(int64) {}
	}
	stdins := 0
	for _, path := range paths {
		if path == "-" {
			if stdins++; stdins > 1 {
				return nil, errors.New("standard input can be read once only")
			}
			inputs = append(inputs, onceInput(ctx, "standard input", progress, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }))
			continue
		}
		more, err := openPath(ctx, path, progress)
		if err != nil {
			return inputs, err
		}
		inputs = append(inputs, more...)
	}
	return inputs, nil
}

// onceInput is what can't be read a second time.
func onceInput(ctx context.Context, name string, progress func(int64), open func() (io.ReadCloser, error)) input {
	return input{name: name, once: true, open: func() (io.ReadCloser, error) {
		s := newStoppable(ctx, open)
		return decompressNamed(name, counter{s, progress}, s)
	}}
}

func openPath(ctx context.Context, path string, progress func(int64)) ([]input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: name the files in it", path)
	}
	if info.Mode().IsRegular() {
		members, err := openZip(path, progress)
		if members != nil || err != nil {
			return members, err
		}
	}
	if !info.Mode().IsRegular() {
		in := onceInput(ctx, path, progress, func() (io.ReadCloser, error) { return os.Open(path) })
		in.base = plainName(path)
		return []input{in}, nil
	}
	return []input{{name: path, base: plainName(path), open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return decompressNamed(path, counter{f, progress}, f)
	}}}, nil
}

// decompressNamed is decompress with the input's name in its error.
func decompressNamed(name string, r io.Reader, c io.Closer) (io.ReadCloser, error) {
	d, err := decompress(struct {
		io.Reader
		io.Closer
	}{r, c})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// openZip returns the members of an archive, and nil if path is none.
func openZip(path string, progress func(int64)) ([]input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	mark := make([]byte, 4)
	if n, _ := io.ReadFull(f, mark); n < 4 || string(mark) != "PK\x03\x04" {
		return nil, f.Close()
	}
	f.Close()
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var inputs []input
	for _, m := range z.File {
		if m.FileInfo().IsDir() {
			continue
		}
		inputs = append(inputs, input{name: path + ":" + m.Name, base: plainName(m.Name), open: func() (io.ReadCloser, error) {
			r, err := m.Open()
			if err != nil {
				return nil, fmt.Errorf("%s:%s: %w", path, m.Name, err)
			}
			progress(int64(m.CompressedSize64))
			return decompress(r)
		}})
	}
	if inputs == nil {
		z.Close()
		return nil, fmt.Errorf("%s: an archive without files", path)
	}
	inputs[0].free = func() { z.Close() }
	return inputs, nil
}

// plainName is a path's last part without the endings that compression adds.
func plainName(path string) string {
	name := filepath.Base(filepath.ToSlash(path))
	for {
		switch ext := filepath.Ext(name); ext {
		case ".gz", ".zst", ".xz", ".zip", ".csv", ".txt", ".json", ".jsonl", ".ndjson", ".dbn":
			name = name[:len(name)-len(ext)]
		default:
			return name
		}
	}
}

// decompress tells by the first bytes how r is compressed; a file's name may lie.
func decompress(r io.ReadCloser) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	mark, err := br.Peek(6)
	if err != nil && err != io.EOF {
		r.Close()
		return nil, err
	}
	var d io.Reader = br
	err = nil
	switch {
	case bytes.HasPrefix(mark, []byte{0x1f, 0x8b}):
		d, err = gzip.NewReader(br)
	case bytes.HasPrefix(mark, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemory)); err == nil {
			return closers{z, []func() error{func() error { z.Close(); return nil }, r.Close}}, nil
		}
	case bytes.HasPrefix(mark, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		d, err = xz.NewReader(br)
	case bytes.HasPrefix(mark, []byte("PK\x03\x04")):
		err = errors.New("a zip archive can't be read as a stream: give it as a file")
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return closers{d, []func() error{r.Close}}, nil
}

type closers struct {
	io.Reader
	list []func() error
}

func (c closers) Close() error {
	var errs []error
	for _, f := range c.list {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// A counter tells of the bytes that pass.
type counter struct {
	r    io.Reader
	told func(int64)
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.told(int64(n))
	return n, err
}
