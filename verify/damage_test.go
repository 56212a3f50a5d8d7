package verify_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/internal/journal"
	"example.com/ledger/internal/meta"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// A damage is something done to the files of a stream, what verify says of it,
// and what of the records is lost when it is repaired.
type damage struct {
	name  string
	kind  kind
	do    func(t *testing.T, m memory)
	kinds []string    // of the problems; none: the stream is still right
	lost  [][2]uint64 // after the repair, and named in drops.json by it
	gone  [][2]uint64 // not named: nothing was left that tells of them, or they were named before
}

var (
	commitCols = kind{stream.Commit, segment.Columns, 27, true, 0, false}
	early      = kind{stream.Commit, segment.Columns, 27, true, 0, true}
	earlyRows  = kind{stream.Commit, segment.Rows, 27, true, 0, true}
	commitRows = kind{stream.Commit, segment.Rows, 27, true, 0, false}
	retained   = kind{stream.Commit, segment.Columns, 45, true, 16, false}
	sealedCols = kind{stream.Sealed, segment.Columns, 30, true, 8, false}
	osCols     = kind{stream.Os, segment.Columns, 29, true, 0, false}
	osKilled   = kind{stream.Os, segment.Columns, 29, false, 0, false}
	empty      = kind{stream.Commit, segment.Columns, 0, true, 0, false}
)

const seg0, seg8, seg16 = "00000000000000000000.seg", "00000000000000000008.seg", "00000000000000000016.seg"

func damages() []damage {
	all := []damage{
		{"nothing", commitCols, func(t *testing.T, m memory) {}, nil, nil, nil},
		{"the cursors page is missing", commitCols, remove("cursors"), nil, nil, nil},
		{"the cursors page is empty", commitCols, cut("cursors", 0), nil, nil, nil},
		{"the cursors page is cut", commitCols, cut("cursors", 100), []string{"cursors"}, nil, nil},
		{"the cursors page is another stream's", commitCols, foreign("cursors"), []string{"foreign"}, nil, nil},
		{"stream.json is missing", commitCols, remove("stream.json"), []string{"missing"}, nil, nil},
		{"stream.json is missing, and has no journal", commitCols, removeAll("stream.json", "journal"), []string{"lost", "missing"}, [][2]uint64{{24, 27}}, nil},
		{"stream.json is cut", commitCols, cut("stream.json", 50), []string{"metadata"}, nil, nil},
		{"stream.json is empty", sealedCols, cut("stream.json", 0), []string{"metadata"}, nil, nil},
		{"stream.json of rows has a bad digit", commitRows, edit("stream.json", `"capacity": 8`, `"capacity": 9`), []string{"metadata"}, nil, nil},
		{"stream.json is another stream's", commitCols, foreign("stream.json"), []string{"metadata"}, nil, nil},
		{"drops.json is cut", retained, cut("drops.json", 50), []string{"lost", "metadata"}, nil, nil},
		{"drops.json is missing", retained, remove("drops.json"), []string{"lost"}, nil, nil},
		{"drops.json is another stream's", retained, foreign("drops.json"), []string{"foreign", "lost"}, nil, nil},
		{"drops.json names records that are there", retained, dropMore(20, 22), []string{"overlap"}, nil, [][2]uint64{{20, 22}}},
		{"a retired segment came back", retained, comeBack, nil, nil, nil},
		{"a retired segment came back damaged", retained, comeBackDamaged, nil, nil, nil},
		{"leftovers of replacements", commitCols, leftovers, nil, nil, nil},
		{"foreign files", commitCols, strangers, nil, nil, nil},

		{"a segment is missing", commitCols, removeSealed(seg8), []string{"lost"}, [][2]uint64{{8, 16}}, nil},
		{"the first segment is missing", commitCols, removeSealed(seg0), []string{"lost"}, [][2]uint64{{0, 8}}, nil},
		{"a segment is missing, a journal has it", commitCols, remove(seg16), nil, nil, nil},
		{"a segment is another stream's", commitCols, foreignSealed(seg8), []string{"foreign", "lost"}, [][2]uint64{{8, 16}}, nil},
		{"two segments are swapped", commitCols, swap(seg0, seg8), []string{"name", "name"}, nil, nil},
		{"two segments of rows are swapped", commitRows, swap(seg0, seg8), []string{"name", "name"}, nil, nil},
		{"a segment is there twice", commitCols, copyTo(seg0, "00000000000000000004.seg"), []string{"name", "overlap"}, nil, nil},
		{"a segment overlaps another", commitCols, overlap, []string{"overlap", "overlap"}, nil, nil},
		{"a segment is empty", commitCols, cutSealed(seg8, 0), []string{"lost", "size"}, [][2]uint64{{8, 16}}, nil},
		{"an Os stream's segment is empty, a journal has it", osKilled, cut(seg16, 0), nil, nil, nil},
		{"an Os stream's segment is cut, a journal has it", osKilled, cut(seg16, 400), nil, nil, nil},
		{"an Os stream's segment is empty", osKilled, cutSealed(seg8, 0), []string{"gap"}, [][2]uint64{{8, 16}}, nil},
		{"an Os stream's segment is changed", osKilled, pokeSealed(seg8, 64, []byte{7}), []string{"column"}, [][2]uint64{{8, 16}}, nil},
		{"a segment is cut in its header", commitCols, cutSealed(seg8, 63), []string{"lost", "size"}, [][2]uint64{{8, 16}}, nil},
		{"a segment is cut", commitCols, cutSealed(seg8, 300), []string{"size"}, [][2]uint64{{8, 16}}, nil},
		{"a segment is cut, a journal has it", commitCols, cut(seg16, 300), []string{"size"}, nil, nil},
		{"a segment of rows is cut", commitRows, cutSealed(seg8, 300), []string{"size"}, [][2]uint64{{8, 16}}, nil},
		{"a segment has bytes behind its end", commitCols, grow(seg8), []string{"footer", "size"}, nil, nil},
		{"a segment is all zeros", commitCols, zeroSealed(seg8), []string{"header"}, [][2]uint64{{8, 16}}, nil},
		{"a segment's count is zeroed", commitCols, poke(seg8, 16, make([]byte, 8)), []string{"header"}, nil, nil},
		{"a segment of rows has its count zeroed", commitRows, poke(seg8, 16, make([]byte, 8)), []string{"header"}, nil, nil},
		{"an early sealed segment's count is zeroed", early, poke(seg8, 16, make([]byte, 8)), []string{"header"}, nil, nil},
		{"an early sealed segment's header is zeroed", early, pokeSealed(seg8, 0, make([]byte, 64)), []string{"header"}, [][2]uint64{{8, 12}}, nil},
		{"an early sealed segment of rows has its count zeroed", earlyRows, poke(seg8, 16, make([]byte, 8)), []string{"header"}, nil, nil},
		{"two early sealed segments are swapped", early, swap(seg8, "00000000000000000012.seg"), []string{"name", "name"}, nil, nil},
		{"a segment looks like the original engine's", commitRows, makeLegacy(seg8), []string{"header"}, nil, nil},
		{"a segment's first number is changed", commitCols, poke(seg8, 8, []byte{9}), []string{"header"}, nil, nil},
		{"a segment's crc is changed", commitCols, poke(seg8, 40, []byte{1, 2, 3, 4}), []string{"header"}, nil, nil},
		{"a segment's header is zeroed", commitCols, pokeSealed(seg8, 0, make([]byte, 64)), []string{"header"}, [][2]uint64{{8, 16}}, nil},
		{"a segment's padding is not zero", commitCols, poke(seg8, 64+64+32, []byte{7}), []string{"padding"}, nil, nil},
		{"a segment's footer is changed", commitCols, pokeEnd(seg8, 48+3, []byte{7}), []string{"footer"}, nil, nil},
		{"a segment's column is changed", commitCols, pokeSealed(seg8, 64, []byte{7}), []string{"column"}, [][2]uint64{{8, 16}}, nil},
		{"a segment's column is changed, a journal has it", commitCols, poke(seg16, 64, []byte{7}), []string{"column"}, nil, nil},
		{"two segments' columns are changed", commitCols, both(pokeSealed(seg0, 64, []byte{7}), pokeSealed(seg8, 64, []byte{7})), []string{"column", "column"}, [][2]uint64{{0, 16}}, nil},
		{"a row is changed", commitRows, pokeSealed(seg8, 64+50, []byte{7}), []string{"records"}, [][2]uint64{{8, 16}}, nil},

		{"all journals are missing", commitCols, removeAll("journal"), []string{"lost"}, [][2]uint64{{24, 27}}, nil},
		{"all journals and cursors are missing", osCols, removeAll("journal", "cursors"), nil, nil, [][2]uint64{{24, 29}}},
		{"the journal is cut behind its header", commitCols, cutJournal(24, 4096), []string{"lost", "size"}, [][2]uint64{{24, 27}}, nil},
		{"the journal is cut in a frame", commitCols, cutJournal(24, 4096+16+30), []string{"lost", "size"}, [][2]uint64{{24, 27}}, nil},
		{"the journal is cut behind its frames", commitCols, cutJournal(24, 4096+2*64+48+16), []string{"size"}, nil, nil},
		{"the journal is empty", commitCols, cutJournal(24, 0), []string{"lost", "size"}, [][2]uint64{{24, 27}}, nil},
		{"the journal is all zeros", commitCols, zeroJournal(24), []string{"lost"}, [][2]uint64{{24, 27}}, nil},
		{"the journal is another stream's", commitCols, foreignJournal(24), []string{"foreign", "lost"}, [][2]uint64{{24, 27}}, nil},
		{"two journals are swapped", commitCols, swap("journal.0", "journal.1"), nil, nil, nil},
		{"a header's first copy is changed", commitCols, pokeJournal(24, 9, []byte{7}), []string{"header"}, nil, nil},
		{"a header's second copy is zeroed", commitCols, pokeJournal(24, 2048, make([]byte, 68)), nil, nil, nil},
		{"both copies of a header are changed", commitCols, both(pokeJournal(24, 9, []byte{7}), pokeJournalBad(2048+9)), []string{"lost"}, [][2]uint64{{24, 27}}, nil},
		{"a frame that a witness follows is changed", commitCols, pokeJournal(24, 4096+20, []byte{0xff}), []string{"lost"}, [][2]uint64{{24, 25}}, nil},
		{"a frame in the middle is changed", sealedCols, pokeJournal(24, 4096+20, []byte{0xff}), []string{"lost"}, [][2]uint64{{24, 25}}, nil},
		{"a frame of a killed process is changed", osKilled, pokeJournal(24, 4096+20, []byte{0xff}), []string{"hole"}, [][2]uint64{{24, 25}}, nil},
		{"the last frame of a killed process is torn", osKilled, tearLast(24), nil, nil, [][2]uint64{{25, 29}}},
		{"a frame in a sealed journal is changed", commitCols, pokeJournal(16, 4096+20, []byte{0xff}), nil, nil, nil},
		{"all is zeros but a segment", commitCols, zeroAllBut(seg8), []string{"header", "header", "metadata"}, [][2]uint64{{0, 8}, {16, 24}}, [][2]uint64{{24, 27}}},
		{"an empty stream's journal is missing", empty, removeAll("journal"), nil, nil, nil},
	}
	return all
}

func TestDamage(t *testing.T) {
	made := map[kind]memory{}
	for _, d := range damages() {
		if _, ok := made[d.kind]; !ok {
			dir, _ := d.kind.make(t)
			made[d.kind] = load(dir)
		}
	}
	for _, d := range damages() {
		t.Run(d.name, func(t *testing.T) {
			m := made[d.kind].Clone()
			d.do(t, m)
			dir := save(m, t.TempDir())
			before := tree(dir)
			r := report(t, dir)
			var kinds []string
			for _, p := range r.Problems {
				kinds = append(kinds, p.Kind)
			}
			slices.Sort(kinds)
			if !slices.Equal(kinds, d.kinds) {
				t.Errorf("problems %q, want %q:\n%s", kinds, d.kinds, text(r))
			}
			same(t, "verify", before, tree(dir))
			if mem := look(t, m); text(mem) != text(r) {
				t.Errorf("another report from memory:\n%s\nand from disk:\n%s", text(mem), text(r))
			}
			if _, err := verify.Repair(context.Background(), dir, false); err != nil {
				t.Fatal(err)
			}
			same(t, "a plan", before, tree(dir))
			mendAndRead(t, d, dir)
		})
	}
}

// mendAndRead repairs a stream and proves that nothing but lost is gone of its
// records, and no byte of its files.
func mendAndRead(t *testing.T, d damage, dir string) {
	t.Helper()
	k, lost := d.kind, d.lost
	before := tree(dir)
	rep, err := verify.Repair(context.Background(), dir, true)
	if err != nil {
		t.Fatalf("repair: %v\n%v", err, rep)
	}
	if !rep.After.OK {
		t.Fatalf("still not clean after %v:\n%s", rep.Actions, text(rep.After))
	}
	nothingDeleted(t, before, tree(dir))
	var got [][2]uint64
	for _, a := range rep.Actions {
		if a.Op == verify.OpDrop && a.ToSeq > uint64(k.retained) {
			got = append(got, [2]uint64{a.FromSeq, a.ToSeq})
		}
	}
	if !slices.Equal(got, lost) {
		t.Errorf("lost %v, want %v; actions:\n%v", got, lost, rep.Actions)
	}
	clean(t, dir)
	if again := must(verify.Repair(context.Background(), dir, true)); len(again.Actions) > 0 {
		t.Errorf("a second repair does %v", again.Actions)
	}
	rows, _, next := readAll(t, dir)
	if end := uint64(k.records); next < end && !slices.ContainsFunc(d.gone, func(g [2]uint64) bool { return g[0] <= next && g[1] == end }) {
		t.Errorf("the next number is %d, but %d records were acknowledged", next, k.records)
	}
	if want := k.remaining(t, slices.Concat(lost, d.gone)); !bytes.Equal(rows, want) {
		t.Errorf("records %v, want %v", numbers(t, rows), numbers(t, want))
	}
	clean(t, dir)
}

// remaining is what is left of a stream's records.
func (k kind) remaining(t *testing.T, lost [][2]uint64) (rows []byte) {
	s := fields(t)
	for seq := k.retained; seq < k.records; seq++ {
		if !slices.ContainsFunc(lost, func(l [2]uint64) bool { return l[0] <= uint64(seq) && uint64(seq) < l[1] }) {
			rows = append(rows, records(s, seq, 1)...)
		}
	}
	return rows
}

func numbers(t *testing.T, rows []byte) (seqs []uint64) {
	for w := fields(t).Width(); len(rows) > 0; rows = rows[w:] {
		seqs = append(seqs, schema.Seq(rows))
	}
	return seqs
}

func same(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for name := range after {
		if before[name] != after[name] {
			t.Errorf("%s changed %s", what, name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%s: %d files, and %d before", what, len(after), len(before))
	}
}

// nothingDeleted: each file's content is still somewhere, but for a drops.json
// that only grew, and a journal whose header was written again.
func nothingDeleted(t *testing.T, before, after map[string]string) {
	t.Helper()
	var kept []string
	for _, b := range after {
		kept = append(kept, b)
	}
	for name, b := range before {
		_, err := meta.DecodeDrops(name, []byte(b))
		grew := name == "drops.json" && err == nil
		if !slices.Contains(kept, b) && !grew && (!strings.HasPrefix(name, "journal") || after[name][4096:] != b[4096:]) {
			t.Errorf("what %s had is nowhere", name)
		}
	}
}

func remove(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { delete(m, name) }
}

func removeAll(prefixes ...string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		for name := range m {
			for _, p := range prefixes {
				if strings.HasPrefix(name, p) {
					delete(m, name)
				}
			}
		}
	}
}

// sealedOnly sees to it that no journal has a sealed file's records.
func sealedOnly(t *testing.T, m memory, name string) {
	t.Helper()
	first, ok := segment.ParseName(name)
	if !ok {
		t.Fatalf("%s is no segment", name)
	}
	for n := range journal.Ring {
		if h, ok, _ := journal.DecodeHeaders(m[journal.Name(n)]); ok && h.First == first {
			clear(m[journal.Name(n)])
		}
	}
}

func removeSealed(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { sealedOnly(t, m, name); delete(m, name) }
}

func cut(name string, n int) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { m[name] = m[name][:n] }
}

func cutSealed(name string, n int) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { sealedOnly(t, m, name); m[name] = m[name][:n] }
}

func zeroSealed(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { sealedOnly(t, m, name); clear(m[name]) }
}

func grow(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { m[name] = append(m[name], 1, 2, 3) }
}

func poke(name string, at int, b []byte) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		if bytes.Equal(m[name][at:at+len(b)], b) {
			t.Fatalf("%s has %x at %d already", name, b, at)
		}
		copy(m[name][at:], b)
	}
}

func pokeSealed(name string, at int, b []byte) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { sealedOnly(t, m, name); poke(name, at, b)(t, m) }
}

func pokeEnd(name string, back int, b []byte) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { poke(name, len(m[name])-back, b)(t, m) }
}

func edit(name, old, new string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		if !bytes.Contains(m[name], []byte(old)) {
			t.Fatalf("%s has no %s:\n%s", name, old, m[name])
		}
		m[name] = bytes.Replace(m[name], []byte(old), []byte(new), 1)
	}
}

func both(a, b func(*testing.T, memory)) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { a(t, m); b(t, m) }
}

func swap(a, b string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { m[a], m[b] = m[b], m[a] }
}

func copyTo(from, to string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { m[to] = bytes.Clone(m[from]) }
}

// other is another stream of the same kind of records.
func other(t *testing.T) memory {
	dir, _ := kind{stream.Commit, segment.Columns, 27, true, 8, false}.make(t)
	m := load(dir)
	var err error
	if m[seg0], err = sealedImage(t, m, 0); err != nil {
		t.Fatal(err)
	}
	return m
}

func foreign(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { m[name] = other(t)[name] }
}

func foreignSealed(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { sealedOnly(t, m, name); m[name] = other(t)[name] }
}

// journalOf returns the name of the journal that begins with a number.
func journalOf(t *testing.T, m memory, first uint64) string {
	t.Helper()
	best, gen := "", uint64(0)
	for n := range journal.Ring {
		if h, ok, _ := journal.DecodeHeaders(m[journal.Name(n)]); ok && h.First == first && h.Generation >= gen {
			best, gen = journal.Name(n), h.Generation
		}
	}
	if best == "" {
		t.Fatalf("no journal begins at %d", first)
	}
	return best
}

func pokeJournal(first uint64, at int, b []byte) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { poke(journalOf(t, m, first), at, b)(t, m) }
}

// pokeJournalBad changes a byte of the only journal whose first header is bad.
func pokeJournalBad(at int) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		for n := range journal.Ring {
			b := m[journal.Name(n)]
			if _, ok, _ := journal.DecodeHeader(b); !ok && len(b) > 0 && b[0] == 'O' {
				b[at] ^= 0xff
				return
			}
		}
		t.Fatal("no journal has a bad header")
	}
}

func cutJournal(first uint64, n int) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { cut(journalOf(t, m, first), n)(t, m) }
}

func zeroJournal(first uint64) func(*testing.T, memory) {
	return func(t *testing.T, m memory) { clear(m[journalOf(t, m, first)]) }
}

func foreignJournal(first uint64) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		o := other(t)
		m[journalOf(t, m, first)] = o[journalOf(t, o, 24)]
	}
}

// tearLast zeroes the end of the last frame, and takes back what the cursors
// page says was published: as a power loss would.
func tearLast(first uint64) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		b := m[journalOf(t, m, first)]
		h, _, _ := journal.DecodeHeaders(b)
		s := must(journal.Read(0, b, h, capacity))
		clear(b[s.Stop-40:])
	}
}

func comeBack(t *testing.T, m memory) {
	m[seg8] = must(sealedImage(t, m, 8))
}

func comeBackDamaged(t *testing.T, m memory) {
	comeBack(t, m)
	m[seg8][70] ^= 1
	m[seg8][20] ^= 1
}

// sealedImage makes the file of the eight records from first on.
func sealedImage(t *testing.T, m memory, first int) ([]byte, error) {
	s := must(meta.DecodeStream("", m["stream.json"]))
	var w segment.Writer
	id := must(meta.ParseID(s.ID))
	b, _, err := w.Encode(segment.Meta{ID: id, Capacity: capacity, Schema: s.Schema}, segment.Columns,
		records(s.Schema, first, capacity), 1_700_000_000_000, segment.FlagDurable)
	return bytes.Clone(b), err
}

// overlap adds a right file that begins in the middle of another.
func overlap(t *testing.T, m memory) {
	m["00000000000000000004.seg"] = must(sealedImage(t, m, 4))
}

func dropMore(from, to uint64) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		d := must(meta.DecodeDrops("", m["drops.json"]))
		m["drops.json"] = must(d.Add(meta.Drop{From: from, To: to, Reason: meta.ReasonRepair}).Encode())
	}
}

func makeLegacy(name string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		clear(m[name][44:48])
		clear(m[name][56:64])
		clear(m[name][16:24])
	}
}

func leftovers(t *testing.T, m memory) {
	for _, name := range []string{"stream.json", "drops.json", seg8, "journal.1"} {
		m[name+".tmp"] = []byte("half of it")
	}
}

func strangers(t *testing.T, m memory) {
	for _, name := range []string{".DS_Store", "0.seg", "journal.4", "journal.00", "notes.txt", "0000000000000000000a.seg", "LOCK"} {
		m[name] = []byte("not ours")
	}
}

func zeroAllBut(keep string) func(*testing.T, memory) {
	return func(t *testing.T, m memory) {
		for name := range m {
			if name != keep {
				clear(m[name])
			}
		}
	}
}
