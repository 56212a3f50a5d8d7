package meta

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"example.com/ledger/internal/disk"
)

// within fails the test if f allocates more than a small multiple of n bytes.
func within(t *testing.T, n int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 256<<10+200*uint64(n) {
		t.Fatalf("%d bytes allocated for %d", got, n)
	}
}

// fuzz reads any bytes, also with their checksum set right, so that the fuzzer
// gets behind it. What is read must encode to what reads as the same.
func fuzz[T any](f *testing.F, decode func(string, []byte) (T, error), encode func(T) ([]byte, error)) {
	for _, o := range objects(f) {
		f.Add(o.b, false)
		f.Add(o.b, true)
	}
	f.Add([]byte(`{"version":1,"crc": "00000000"}`), true)
	f.Add([]byte(`{"version":2,"crc": "00000000"}`), true)
	f.Fuzz(func(t *testing.T, b []byte, repair bool) {
		if repair {
			b = resum(b)
		}
		var v T
		var err error
		within(t, len(b), func() { v, err = decode("file", b) })
		if err != nil {
			if !errors.Is(err, disk.ErrCorrupt) && !errors.Is(err, disk.ErrVersion) {
				t.Fatalf("the error is of no kind: %v", err)
			}
			return
		}
		one, err := encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if v, err = decode("file", one); err != nil {
			t.Fatalf("what was encoded doesn't decode: %v\n%s", err, one)
		}
		if two, err := encode(v); err != nil || !bytes.Equal(one, two) {
			t.Fatalf("encoded twice: %v\n%s\n%s", err, one, two)
		}
	})
}

func FuzzDecodeStream(f *testing.F)   { fuzz(f, DecodeStream, Stream.Encode) }
func FuzzDecodeDrops(f *testing.F)    { fuzz(f, DecodeDrops, Drops.Encode) }
func FuzzDecodeConsumer(f *testing.F) { fuzz(f, DecodeConsumer, Consumer.Encode) }

func FuzzDecodeCursors(f *testing.F) {
	f.Add(page()[:72])
	f.Add(page()[:44])
	f.Add([]byte("OXLC"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok, err := DecodeCursors(b)
		switch {
		case err != nil && (ok || !errors.Is(err, disk.ErrVersion)), !ok && c != Cursors{}:
			t.Fatalf("%+v, %v, %v", c, ok, err)
		case ok:
			out := bytes.Clone(b)
			c.Put(out)
			if again, ok, err := DecodeCursors(out); again != c || !ok || err != nil {
				t.Fatalf("%+v decodes to %+v, %v, %v", c, again, ok, err)
			}
		}
	})
}
