package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk/frozen"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// A small stream, made for damage: its files, and what its reader shows.
type small struct {
	name    string
	files   frozen.Dir
	records map[uint64][]byte
	end     uint64
}

// makeSmall makes a closed stream with batches across rolls, a segment that was
// retired, and records in a journal.
func makeSmall(t testing.TB, mode stream.Durability, layout segment.Layout, batches int) *small {
	t.Helper()
	dir := filepath.Join(scratch(t), "s")
	s, err := stream.Create(dir, stream.Options{Schema: Schema(), Capacity: Capacity, Durability: mode, Layout: layout})
	check(t, err)
	for i := range batches {
		fill(t, s, 1+i%5)
	}
	check(t, s.Seal())
	end := uint64(s.Cursors().Appended)
	_, err = s.Retain(retention.Policy{BeforeSeq: Capacity}, false)
	check(t, err)
	fill(t, s, 3, 2, 1)
	check(t, s.Close())
	x := &small{name: fmt.Sprintf("%v,%v", mode, layout), files: load(t, dir), records: map[uint64][]byte{}}
	got, err := x.read(x.files)
	check(t, err)
	if got.wrong != nil || got.failed > 0 || got.end != end+6 {
		t.Fatalf("an undamaged stream: %+v", got)
	}
	x.end = got.end
	return x
}

// A look is what a reader finds in damaged files.
type look struct {
	end    uint64
	right  int   // records that are as they were appended
	failed int   // records whose reading is an error, as it should be
	wrong  error // a record that is not as appended, or an error that doesn't say where
}

// read reads each record with the engine's reader. The error is that of opening.
func (x *small) read(m frozen.Dir) (l look, err error) {
	r, err := stream.OpenReaderOn(m, "s")
	if err != nil {
		if !named(err) && l.wrong == nil {
			l.wrong = err
		}
		return l, err
	}
	defer r.Close()
	n, err := r.Snapshot()
	if err != nil {
		return l, err
	}
	defer n.Close()
	l.end = uint64(n.End())
	fresh := len(x.records) == 0
	var rec []byte
	for seq := n.First(); seq < n.End(); seq++ {
		rec, err = n.Get(rec[:0], seq)
		switch {
		case err != nil:
			if l.failed++; !named(err) {
				l.wrong = fmt.Errorf("record %d: an error that doesn't say where: %w", seq, err)
			}
		case fresh:
			x.records[uint64(seq)] = bytes.Clone(rec)
			l.right++
		case !bytes.Equal(rec, x.records[uint64(seq)]):
			l.wrong = fmt.Errorf("record %d is %x", seq, rec)
		default:
			l.right++
		}
	}
	if fresh {
		delete(x.records, l.end)
	}
	return l, nil
}

// named tells whether an error names a file or a range of records.
func named(err error) bool {
	if c, ok := errors.AsType[*stream.CorruptError](err); ok {
		return c.Path != "" || c.To > c.From
	}
	if _, ok := errors.AsType[*stream.DroppedError](err); ok {
		return true
	}
	return errors.Is(err, stream.ErrVersion) || errors.Is(err, stream.ErrNotFound)
}

// judge looks at damaged files with verify and with the reader. class is that of
// the bytes that were changed: with Free no record may change, with Data or Meta
// verify must find it, and "" is anything.
func (x *small) judge(m frozen.Dir, class verify.Class) error {
	got, oerr := x.read(m)
	rep, verr := verify.StreamOn(context.Background(), m, "s", nil)
	found := verr != nil || !rep.OK
	whole := oerr == nil && got.failed == 0 && got.right == len(x.records) && got.end == x.end
	switch {
	case got.wrong != nil:
		return got.wrong
	case class != "" && class != verify.Free && !found:
		return errors.New("verify finds nothing")
	case class == verify.Free && (found || !whole):
		return fmt.Errorf("free bytes: the reader has %d records to %d and %d errors (%v), verify finds %v, %v", got.right, got.end, got.failed, oerr, rep, verr)
	case !whole && !found:
		return fmt.Errorf("the reader has %d of %d records to %d and %d errors (%v), and verify finds nothing", got.right, len(x.records), got.end, got.failed, oerr)
	case oerr == nil && got.failed == 0 && !whole:
		return fmt.Errorf("the reader shows %d of %d records, to %d, without an error; verify finds %v", got.right, len(x.records), got.end, rep.Problems)
	}
	return nil
}

func smalls(t testing.TB, batches int) []*small {
	return []*small{
		makeSmall(t, stream.Commit, segment.Columns, batches),
		makeSmall(t, stream.Sealed, segment.Rows, batches),
		makeSmall(t, stream.Os, segment.Columns, batches),
	}
}

// TestEveryBit flips every bit of every file of a small stream, one at a time
// (one in many of them in a short run). One in a byte that Inspect calls data or
// meta: verify finds it; in a free byte: no record changes. The reader gives
// right records, or an error that says where.
func TestEveryBit(t *testing.T) {
	var flips, free atomic.Int64
	t.Run("of", func(t *testing.T) {
		for _, x := range smalls(t, 8) {
			t.Run(x.name, func(t *testing.T) {
				t.Parallel()
				for _, name := range x.files.Names() {
					x.flipAll(t, name, &flips, &free)
				}
			})
		}
	})
	t.Logf("%d bits flipped, %d of them in free bytes", flips.Load(), free.Load())
	if flips.Load() < 1_000 || free.Load() == 0 {
		t.Error("the test saw too little")
	}
}

func (x *small) flipAll(t *testing.T, name string, flips, free *atomic.Int64) {
	l, err := verify.InspectOn(x.files, filepath.Join("s", name))
	check(t, err)
	m := x.files.Clone()
	bad := 0
	for _, r := range l.Ranges {
		step := int64(sample(37, 1))
		if r.Class == verify.Free {
			step = int64(sample(2039, 31))
		}
		for bit := r.Offset * 8; bit < (r.Offset+r.Length)*8; bit += step {
			m[name][bit/8] ^= 1 << (bit % 8)
			err := x.judge(m, r.Class)
			m[name][bit/8] ^= 1 << (bit % 8)
			flips.Add(1)
			if r.Class == verify.Free {
				free.Add(1)
			}
			if err != nil {
				t.Errorf("%s: bit %d of byte %d (%s, %s): %v", name, bit%8, bit/8, r.Meaning, r.Class, err)
				if bad++; bad > 5 {
					return
				}
			}
		}
	}
}

// TestRandomDamage does to the files of a larger stream what disks, copies and
// people do: it flips, zeroes, cuts, swaps, copies and removes. Whatever it was,
// the reader gives right records or an error that says where; what it can't give
// verify knows of; a writer opens it with all that was acknowledged, or refuses
// and changes nothing; and nothing allocates much more than the files have.
func TestRandomDamage(t *testing.T) {
	xs := smalls(t, 40)
	olds := smalls(t, 30) // of other streams, to take files from
	n := sample(1_000, 100_000)
	var mu sync.Mutex
	kinds := map[string]int{}
	worst, refused, opened := 0.0, 0, 0
	do := func(t *testing.T, i int, alone bool) {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		x := xs[i%len(xs)]
		m := x.files.Clone()
		what := harm(rng, m, olds[i%len(olds)].files)
		before := allocated()
		err := x.judge(m, "")
		grew := float64(allocated()-before) / float64(m.Size())
		did := ""
		if err == nil && i%sample(10, 50) == 0 {
			did, err = x.write(t, m)
		}
		if err != nil {
			t.Fatalf("seed %d, damage %d: %s, %+v: %v", *seed, i, x.name, what, err)
		}
		mu.Lock()
		defer mu.Unlock()
		kinds[what.kind]++
		if alone {
			worst = max(worst, grew)
		}
		switch did {
		case "refused":
			refused++
		case "opened":
			opened++
		}
	}
	for i := range 300 {
		do(t, i, true)
	}
	t.Run("two", func(t *testing.T) {
		for k := range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := 300 + k; i < n; i += 2 {
					do(t, i, false)
				}
			})
		}
	})
	t.Logf("seed %d: %d damages %v; of %d writers %d refused; verify and reader allocate at most %.1f times the files",
		*seed, n, kinds, refused+opened, refused, worst)
	if worst > 60 || refused == 0 || opened == 0 {
		t.Errorf("%.1f times the bytes of the files were allocated; %d writers refused, %d opened", worst, refused, opened)
	}
}

// write opens damaged files as their next writer would.
func (x *small) write(t *testing.T, m frozen.Dir) (did string, err error) {
	dir := filepath.Join(scratch(t), "s")
	check(t, os.Mkdir(dir, 0o750))
	defer os.RemoveAll(dir) // there are many
	for name, b := range m {
		check(t, os.WriteFile(filepath.Join(dir, name), b, 0o640))
	}
	s, err := stream.Open(dir, stream.OpenOptions{})
	if err != nil {
		if !named(err) {
			return "", fmt.Errorf("a writer's error doesn't say where: %w", err)
		}
		if after := load(t, dir); !maps.EqualFunc(m, after, bytes.Equal) {
			return "", fmt.Errorf("a writer refused (%w) and changed files: %s", err, listing(dir))
		}
		return "refused", nil
	}
	defer s.Close()
	if end := uint64(s.Cursors().Appended); end < x.end {
		return "", fmt.Errorf("a writer goes on at %d, and all below %d was durable: %+v", end, x.end, s.Report())
	}
	if lost := s.Report().Lost; len(lost) > 0 {
		return "", fmt.Errorf("a writer gave up what was durable: %+v", s.Report())
	}
	n, err := s.Snapshot()
	check(t, err)
	defer n.Close()
	var rec []byte
	for seq := range x.records {
		switch rec, err = n.Get(rec[:0], stream.Seq(seq)); {
		case err != nil && !named(err):
			return "", fmt.Errorf("record %d: %w", seq, err)
		case err == nil && !bytes.Equal(rec, x.records[seq]):
			return "", fmt.Errorf("record %d is %x", seq, rec)
		}
	}
	return "opened", nil
}

// allocated is the bytes that this process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// A harmed is something that was done to files.
type harmed struct {
	kind, file, other string
	at, n             int
}

func harm(rng *rand.Rand, m, other frozen.Dir) harmed {
	names := m.Names()
	h := harmed{file: names[rng.IntN(len(names))], other: names[rng.IntN(len(names))]}
	b := m[h.file]
	h.at = rng.IntN(max(1, len(b)))
	h.n = 1 + rng.IntN(64)
	region := b[min(h.at, len(b)):min(h.at+h.n, len(b))]
	kinds := []string{"flip", "flip", "flip", "flips", "zero", "zero sector", "random", "cut", "grow", "swap", "copy", "remove", "foreign", "shift"}
	switch h.kind = kinds[rng.IntN(len(kinds))]; h.kind {
	case "flip":
		if len(b) > 0 {
			b[h.at] ^= 1 << rng.IntN(8)
		}
	case "flips":
		for range 1 + rng.IntN(8) {
			if len(b) > 0 {
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			}
		}
	case "zero":
		clear(region)
	case "zero sector":
		clear(b[h.at/512*512 : min(h.at/512*512+512, len(b))])
	case "random":
		for i := range region {
			region[i] = byte(rng.Uint32())
		}
	case "cut":
		m[h.file] = b[:h.at]
	case "grow":
		m[h.file] = append(b, bytes.Repeat([]byte{byte(rng.Uint32())}, h.n)...)
	case "swap":
		if h.file == "cursors" || h.other == "cursors" {
			return harmed{} // the newest records and all that proves them, in one stroke: verify alone can tell
		}
		m[h.file], m[h.other] = m[h.other], m[h.file]
	case "copy":
		m[h.file] = bytes.Clone(m[h.other])
	case "remove":
		delete(m, h.file)
	case "foreign":
		if f, ok := other[h.file]; ok {
			m[h.file] = bytes.Clone(f)
		}
	case "shift":
		copy(b[h.at:], bytes.Clone(b[:len(b)-h.at]))
	}
	return h
}
