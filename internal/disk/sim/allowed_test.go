package sim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/ledger/internal/disk"
)

// A history is the plain account of what happened to one flat directory: whole
// copies of everything at every step. What a cut may leave is read off it
// directly, with none of the model disk's machinery.
type history struct {
	now   map[string]*biography
	names []map[string]*biography // since the directory was synced
}

// A biography is all that a file has been since it was last synced.
type biography struct {
	past []string
}

func (b *biography) now() string { return b.past[len(b.past)-1] }

func (h *history) remember() {
	names := make(map[string]*biography)
	for name, b := range h.now {
		names[name] = b
	}
	h.names = append(h.names, names)
}

// files returns what name may show after a cut: contents, or "" and false for none.
func (h *history) files(name string, sector int) map[string]bool {
	may := make(map[string]bool)
	for _, names := range h.names {
		b := names[name]
		if b == nil {
			may["no file"] = true
			continue
		}
		for content := range b.contents(sector) {
			may["file "+content] = true
		}
	}
	return may
}

// contents returns all mixtures of the file's past.
func (b *biography) contents(sector int) map[string]bool {
	may := make(map[string]bool)
	for _, sized := range b.past {
		mix := []string{""}
		for lo := 0; lo < len(sized); lo += sector {
			hi := min(lo+sector, len(sized))
			var longer []string
			for _, v := range b.past {
				padded := v + string(make([]byte, max(0, hi-len(v))))
				for _, m := range mix {
					longer = append(longer, m+padded[lo:hi])
				}
			}
			slices.Sort(longer)
			mix = slices.Compact(longer)
		}
		for _, m := range mix {
			may[m] = true
		}
	}
	return may
}

// play runs a script on the model disk and in the history.
func play(t *testing.T, d *Disk, code []byte) *history {
	s := newScript(t, d)
	h := &history{now: make(map[string]*biography)}
	h.remember()
	open := make(map[string]disk.File)
	maps := make(map[string]disk.Mapping)
	end := func(name string) { // mappings don't let files change their size
		if m := maps[name]; m != nil {
			s.must(m.Unmap())
			delete(maps, name)
		}
	}
	for i := 0; i+1 < len(code) && i < 24; i += 2 {
		name := string('a' + code[i]>>4&1)
		other := string('a' + 1 - code[i]>>4&1)
		arg := code[i+1]
		b := h.now[name]
		switch op := code[i] % 7; {
		case op == 0: // make, or empty
			end(name)
			open[name] = s.create(name, "")
			if b == nil {
				h.now[name] = &biography{past: []string{""}}
			} else {
				b.past = append(b.past, "")
			}
			h.remember()
		case b == nil:
		case op == 1: // write
			off, n := int(arg&3), 1+int(arg>>2&3)
			p := bytes.Repeat([]byte{'a' + arg>>4}, n)
			content := []byte(b.now())
			if off+n > len(content) {
				end(name)
				content = append(content, make([]byte, off+n-len(content))...)
			}
			copy(content[off:], p)
			s.write(open[name], string(p), int64(off))
			b.past = append(b.past, string(content))
		case op == 2: // store
			if maps[name] == nil && b.now() != "" {
				maps[name] = s.mapped(open[name], len(b.now()), true)
			}
			if m := maps[name]; m != nil {
				m.Bytes()[int(arg)%len(m.Bytes())] = 'A' + arg>>4
				b.past = append(b.past, string(m.Bytes()))
				s.d.Notice()
			}
		case op == 3:
			if arg&1 == 0 {
				s.must(open[name].Sync())
			} else {
				s.must(open[name].DataSync())
			}
			b.past = []string{b.now()}
		case op == 4:
			s.must(s.SyncDir("/"))
			h.names = nil
			h.remember()
		case op == 5:
			end(other)
			s.must(s.Rename(name, other))
			open[other], h.now[other] = open[name], b
			delete(open, name)
			delete(h.now, name)
			if m := maps[name]; m != nil {
				maps[other] = m
				delete(maps, name)
			}
			h.remember()
		case op == 6:
			end(name)
			s.must(s.Remove(name))
			delete(open, name)
			delete(h.now, name)
			h.remember()
		}
	}
	return h
}

// imageOf tells what name shows in an image, as history.files does.
func imageOf(img *Disk, name string) string {
	if n := img.root.child(name); n != nil {
		return "file " + string(n.content())
	}
	return "no file"
}

// FuzzAgainstHistory: every image of a cut is one that the history allows, and
// every one that it allows is an image.
func FuzzAgainstHistory(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0x1f, 3, 0, 4, 0, 1, 0x2f, 5, 0, 2, 0x31})
	f.Add([]byte{0, 0, 1, 0x1f, 0, 0, 1, 0x25, 6, 0})
	f.Add([]byte{0, 0, 1, 0x1f, 2, 0x10, 2, 0x11, 5, 0, 0, 0, 1, 0x44, 21, 0})
	rng := rand.New(rand.NewPCG(7, 11))
	for range 150 {
		code := []byte{0, 0, 21, 0} // make both files
		for range 2 * (2 + rng.IntN(8)) {
			code = append(code, byte(rng.Uint32()))
		}
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		const sector = 2
		d := NewSectors(sector)
		h := play(t, d, code)
		for name, b := range h.now {
			if got := imageOf(d, name); got != "file "+b.now() {
				t.Fatalf("script %x: %s is %q now, want %q", code, name, got, "file "+b.now())
			}
		}
		may := map[string]map[string]bool{"a": h.files("a", sector), "b": h.files("b", sector)}
		got := map[string]map[string]bool{"a": {}, "b": {}}
		seen := make(map[string]bool)
		images, complete := 0, true
		for img := range d.AllCuts() {
			for name := range may {
				shown := imageOf(img, name)
				if !may[name][shown] {
					t.Fatalf("script %x: %s is %q in an image, may be only %v", code, name, shown, may[name])
				}
				got[name][shown] = true
			}
			seen[imageOf(img, "a")+imageOf(img, "b")] = true
			if images++; images == 5000 {
				complete = false
				break
			}
		}
		if images == 0 {
			t.Fatalf("script %x: no image", code)
		}
		if complete {
			for name := range may {
				if len(got[name]) != len(may[name]) {
					t.Fatalf("script %x: %s is %v in the images, may be %v", code, name, got[name], may[name])
				}
			}
			// Names are independent of each other, but for two names of one file.
			if fileOfBoth := h.shared(); !fileOfBoth && len(seen) != len(may["a"])*len(may["b"]) {
				t.Fatalf("script %x: %d images, want %d × %d", code, len(seen), len(may["a"]), len(may["b"]))
			}
		}
		k := d.Kill()
		if a, b := fmt.Sprint(d, d.Pending()), fmt.Sprint(k, k.Pending()); a != b {
			t.Fatalf("script %x: a kill makes\n%s of\n%s", code, b, a)
		}
		for _, keep := range []float64{0, 0.01, 0.5, 0.99, 1} {
			img := d.CutRandom(rand.New(rand.NewPCG(1, uint64(len(code)))), keep)
			for name := range may {
				if shown := imageOf(img, name); !may[name][shown] {
					t.Fatalf("script %x: with %v kept %s is %q, may be only %v", code, keep, name, shown, may[name])
				}
			}
		}
	})
}

// shared reports whether one file may show under both names.
func (h *history) shared() bool {
	under := make(map[*biography]string)
	for _, names := range h.names {
		for name, b := range names {
			if was, ok := under[b]; ok && was != name {
				return true
			}
			under[b] = name
		}
	}
	return false
}
