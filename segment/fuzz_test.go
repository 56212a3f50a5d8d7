package segment_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// FuzzDecodeHeader: no input panics, and what decodes encodes to the same bytes.
func FuzzDecodeHeader(f *testing.F) {
	for _, sp := range specimens(f) {
		f.Add(sp.image[:segment.HeaderSize])
	}
	f.Add([]byte("OXLS"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := segment.DecodeHeader(b)
		if err != nil {
			if !errorIs(err, segment.ErrCorrupt) && !errorIs(err, segment.ErrVersion) {
				t.Errorf("error %v", err)
			}
			return
		}
		if got := h.Append(nil); !bytes.Equal(got, b[:segment.HeaderSize]) {
			t.Errorf("%x encodes to %x", b[:segment.HeaderSize], got)
		}
	})
}

// FuzzDecodeFooter: as FuzzDecodeHeader.
func FuzzDecodeFooter(f *testing.F) {
	f.Add(goodFooter(f))
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		foot, err := segment.DecodeFooter(b)
		if err != nil {
			if !errorIs(err, segment.ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			return
		}
		if got := foot.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%x encodes to %x", b, got)
		}
	})
}

// FuzzFile: whatever is in a file, opening, proving and reading it gives an
// error or records, never a panic, and allocates no more than a few times its
// size. What is proved right is returned as it stands in the file.
func FuzzFile(f *testing.F) {
	for _, sp := range specimens(f) {
		f.Add(sp.image, true)
		f.Add(sp.image[:len(sp.image)-1], false)
	}
	f.Add(resealed(specimens(f)[0].image, 0, func(b []byte) { b[23] = 0x0f }), true)
	legacy, err := os.ReadFile(legacyPath)
	if err != nil {
		f.Fatal(err)
	}
	clear(legacy[16:44])
	f.Add(legacy, true)
	golden, fill := goldenSchema(f), fillSchema(f)
	f.Fuzz(func(t *testing.T, image []byte, whole bool) {
		if whole && len(image) >= segment.HeaderSize && (image[44]|image[56]|image[60]) != 0 {
			image = resealed(image, 0, func([]byte) {}) // or few get past the header
		}
		before := allocated()
		fsys := &memFS{data: image}
		if file, _, err := segment.OpenSelf(fsys, "x.seg"); err == nil {
			readAll(t, file)
		}
		for _, s := range []*schema.Schema{golden, fill} {
			if file, err := segment.OpenLegacy(fsys, "x.seg", s); err == nil {
				readAll(t, file)
			}
			h, err := segment.DecodeHeader(image)
			if err != nil {
				continue
			}
			if file, err := segment.Open(fsys, "x.seg", s, h.Tag); err == nil {
				readAll(t, file)
			}
		}
		const slack = 256 << 10 // readers, errors, the fuzzer itself
		if used := allocated() - before; used > uint64(20*len(image)+slack) {
			t.Errorf("%d bytes allocated for a file of %d", used, len(image))
		}
	})
}

func readAll(t *testing.T, f *segment.File) {
	defer f.Evict()
	proved := f.Check(context.Background()) == nil
	g, err := f.Acquire()
	if err != nil {
		t.Fatalf("opened, but: %v", err)
	}
	defer f.Release()
	if uint64(g.Len()) != f.Header().Count {
		t.Fatalf("%d records, the header says %d", g.Len(), f.Header().Count)
	}
	rows, err := g.Rows(nil, 0, g.Len())
	if proved && (err != nil || len(rows) != g.Len()*f.Schema().Width()) {
		t.Fatalf("proved right, but: %d bytes, %v", len(rows), err)
	}
	if !proved || g.Len() == 0 || f.Header().Legacy {
		return
	}
	m := segment.Meta{Schema: f.Schema()}
	var w segment.Writer
	_, h, err := w.Encode(m, f.Layout(), rows, 0, f.Header().Flags)
	if err != nil || h.Flags != f.Header().Flags || h.MinTime != f.Header().MinTime || h.MaxTime != f.Header().MaxTime {
		t.Fatalf("proved right, but encodes again to %+v: %v", h, err)
	}
}

// allocated returns how many bytes the process has ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
