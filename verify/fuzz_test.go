package verify_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// stock is a stream of each kind, made once.
var stock = sync.OnceValue(func() []memory {
	var all []memory
	for _, k := range kinds() {
		all = append(all, k.load())
	}
	return all
})

func (k kind) load() memory {
	dir := must(os.MkdirTemp("", "verify"))
	defer os.RemoveAll(dir)
	return load(k.makeIn(dir))
}

// FuzzInspect: whatever a file has, Inspect returns ranges that tile it, or says
// that it is no file of a stream.
func FuzzInspect(f *testing.F) {
	names := []string{seg8, "journal.0", "stream.json", "drops.json", "cursors", "unnamed", "consumers/risk.json", "dictionary.json", "imports.json"}
	for _, m := range stock() {
		for name, b := range m {
			for i, n := range names {
				if strings.HasPrefix(name, strings.TrimRight(n, "08.seg")) || n == "unnamed" {
					f.Add(byte(i), b)
				}
			}
		}
	}
	f.Add(byte(0), []byte("OXLS"))
	f.Add(byte(1), make([]byte, 4096+8*(16+48)+16))
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		name := names[int(which)%len(names)]
		m := memory{name: b}
		l, err := verify.InspectOn(m, filepath.Join("s", name))
		if errors.Is(err, verify.ErrUnknown) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		tiles(t, name, l)
	})
}

// FuzzRepair does a script of damage to a stream. Whatever it is, verify names
// it or it does not matter, repair makes the stream right, and no record that is
// read afterwards is another than the one that was appended.
func FuzzRepair(f *testing.F) {
	f.Add([]byte("10%\"00000")) // a frame, and a file that can be mended
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		script := make([]byte, 1+4*(1+rng.IntN(4)))
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 || len(script) > 64 {
			return
		}
		k := kinds()[int(script[0])%len(kinds())]
		m := stock()[int(script[0])%len(kinds())].Clone()
		hurt := wreck(m, script[1:])
		disk := toDisk(m)
		rep, err := verify.RepairOn(context.Background(), disk.FS(), "s", true)
		if errors.Is(err, verify.ErrNotFound) || errors.Is(err, stream.ErrVersion) {
			return
		}
		if err != nil {
			t.Fatalf("%v: %v", hurt, err)
		}
		if !rep.After.OK {
			if !slices.ContainsFunc(rep.Actions, func(a verify.Action) bool { return a.Op == verify.OpLeave }) {
				t.Fatalf("%v of %v: not repaired by %v:\n%s", hurt, k, rep.Actions, text(rep.After))
			}
			return
		}
		st, err := stream.OpenOn(disk.FS(), "s", stream.OpenOptions{})
		if err != nil {
			t.Fatalf("%v of %v: open: %v\nafter %v\n%s", hurt, k, err, rep.Actions, text(rep.Before))
		}
		v := must(st.Snapshot())
		rightRecords(t, v, 0)
		for _, h := range untouched(m, hurt) {
			for seq := h.First; seq < h.End(); seq++ {
				if _, err := v.Get(nil, stream.Seq(seq)); err != nil {
					t.Fatalf("%v of %v: record %d of an untouched file: %v\nafter %v\n%s", hurt, k, seq, err, rep.Actions, text(rep.Before))
				}
			}
		}
		check(v.Close())
		check(st.Close())
		again, err := verify.StreamOn(context.Background(), disk.FS(), "s", nil)
		if err != nil || !again.OK {
			t.Fatalf("%v of %v: after a writer: %v\n%s", hurt, k, err, text(again))
		}
	})
}

// wreck damages files as a script says, four bytes a step, and returns the names
// of those that it touched.
func wreck(m memory, script []byte) (hurt []string) {
	for ; len(script) >= 4 && len(m) > 0; script = script[4:] {
		names := slices.Sorted(maps.Keys(m))
		name := names[int(script[1])%len(names)]
		b := m[name]
		at := 0
		if len(b) > 0 {
			at = (int(script[2])<<8 | int(script[3])) % len(b)
		}
		hurt = append(hurt, name)
		switch script[0] % 8 {
		case 0, 1:
			if len(b) > 0 {
				b[at] ^= 1 << (script[3] % 8)
			}
		case 2: // a sector
			clear(b[at/512*512 : min(at/512*512+512, len(b))])
		case 3:
			m[name] = b[:at]
		case 4:
			delete(m, name)
		case 5:
			other := names[(int(script[1])+1)%len(names)]
			m[name], m[other] = m[other], m[name]
			hurt = append(hurt, other)
		case 6:
			other := names[(int(script[1])+int(script[2]))%len(names)]
			m[other] = slices.Clone(b)
			hurt = append(hurt, other)
		case 7:
			m[name] = append(b, script...)
		}
	}
	return hurt
}

// untouched returns the headers of the sealed files that no damage touched, if
// what says which stream they are of, and what is gone, wasn't touched either.
func untouched(m memory, hurt []string) (headers []segment.Header) {
	if slices.Contains(hurt, "stream.json") || slices.Contains(hurt, "drops.json") {
		return nil
	}
	for name, b := range m {
		if _, ok := segment.ParseName(name); ok && !slices.Contains(hurt, name) {
			headers = append(headers, must(segment.DecodeHeader(b)))
		}
	}
	return headers
}
