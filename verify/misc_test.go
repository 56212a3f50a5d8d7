package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/journal"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

func TestNoStream(t *testing.T) {
	empty := t.TempDir()
	created := load(must(kind{stream.Commit, segment.Columns, 0, true, 0, false}.dir(t)))
	delete(created, "stream.json")
	for n := range journal.Ring {
		clear(created[journal.Name(n)]) // a header is written when there is a stream
	}
	for name, dir := range map[string]string{
		"no directory": filepath.Join(empty, "no"), "an empty directory": empty,
		"an interrupted creation": save(created, t.TempDir()),
	} {
		if _, err := verify.Stream(context.Background(), dir); !errors.Is(err, verify.ErrNotFound) || !errors.Is(err, stream.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
		if _, err := verify.Repair(context.Background(), dir, false); !errors.Is(err, verify.ErrNotFound) {
			t.Errorf("%s: repair: %v, want ErrNotFound", name, err)
		}
	}
}

func (k kind) dir(t testing.TB) (string, error) { dir, _ := k.make(t); return dir, nil }

func TestContextEnds(t *testing.T) {
	dir, _ := commitCols.make(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := verify.Stream(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("Stream: %v, want Canceled", err)
	}
	if _, err := verify.Repair(ctx, dir, true); !errors.Is(err, context.Canceled) {
		t.Errorf("Repair: %v, want Canceled", err)
	}
}

func TestProgress(t *testing.T) {
	dir, _ := commitCols.make(t)
	var got []int64
	var last int64
	must(verify.StreamProgress(context.Background(), dir, func(done, total int64) {
		got = append(got, done)
		last = total
	}))
	if len(got) != 3 || got[2] != last || !slices.IsSorted(got) {
		t.Errorf("progress %v of %d, want three steps to the end", got, last)
	}
}

func TestRepairIsLockedOut(t *testing.T) {
	dir, _ := commitCols.make(t)
	check(os.Remove(filepath.Join(dir, seg8)))
	st := must(disk.OS().Lock(dir))
	if _, err := verify.Repair(context.Background(), dir, true); !errors.Is(err, stream.ErrLocked) {
		t.Errorf("with a writer: %v, want ErrLocked", err)
	}
	if _, err := verify.Repair(context.Background(), dir, false); err != nil {
		t.Errorf("a plan beside a writer: %v", err)
	}
	check(st.Close())
}

// TestLaterReleases: a file of a later release is named as one, and neither
// verify nor repair touches anything.
func TestLaterReleases(t *testing.T) {
	base := load(must(retained.dir(t)))
	for name, change := range map[string]func(m memory){
		"stream.json": func(m memory) { m["stream.json"] = laterJSON(m["stream.json"]) },
		"drops.json":  func(m memory) { m["drops.json"] = laterJSON(m["drops.json"]) },
		seg16: func(m memory) {
			h := must(segment.DecodeHeader(m[seg16]))
			h.Version = 3
			copy(m[seg16], h.Append(nil))
		},
		"cursors": func(m memory) { m["cursors"][4] = 2; sumCursors(m["cursors"]) },
	} {
		t.Run(name, func(t *testing.T) {
			m := base.Clone()
			change(m)
			dir := save(m, t.TempDir())
			r := report(t, dir)
			if !slices.ContainsFunc(r.Problems, func(p verify.Problem) bool { return p.File == name && p.Kind == verify.KindVersion }) {
				t.Errorf("no later version is named:\n%s", text(r))
			}
			if _, err := verify.Repair(context.Background(), dir, true); !errors.Is(err, stream.ErrVersion) {
				t.Errorf("repair: %v, want ErrVersion", err)
			}
			same(t, "repair", stringsOf(m), tree(dir))
		})
	}
}

func stringsOf(m memory) map[string]string {
	out := map[string]string{}
	for name, b := range m {
		out[name] = string(b)
	}
	return out
}

// TestForeignTypes: what is no regular file is noted and not opened, whatever
// its name is.
func TestForeignTypes(t *testing.T) {
	dir, _ := commitCols.make(t)
	check(os.Mkdir(filepath.Join(dir, "00000000000000000032.seg"), 0o750))
	check(os.Symlink(filepath.Join(dir, seg0), filepath.Join(dir, "00000000000000000040.seg")))
	makePipe(t, filepath.Join(dir, "00000000000000000048.seg"))
	check(os.Mkdir(filepath.Join(dir, "lost+found"), 0o750))
	r := clean(t, dir)
	for _, name := range []string{"00000000000000000032.seg", "00000000000000000040.seg", "lost+found"} {
		if !slices.ContainsFunc(r.Notes, func(n verify.Note) bool { return n.File == name }) {
			t.Errorf("%s is not noted:\n%s", name, text(r))
		}
	}
}

// brokenFS fails reads of one file.
type brokenFS struct {
	memory
	name    string
	openErr error
	readErr error
}

func (b *brokenFS) Open(path string) (disk.File, error) {
	f, err := b.memory.Open(path)
	if err != nil || filepath.Base(path) != b.name {
		return f, err
	}
	if b.openErr != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: b.openErr}
	}
	return brokenFile{f, b.readErr}, nil
}

type brokenFile struct {
	disk.File
	err error
}

func (f brokenFile) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// TestErrorsAreNotDamage: a file that can't be opened, for want of descriptors
// or rights, is an error; one that the disk can't read is a problem.
func TestErrorsAreNotDamage(t *testing.T) {
	m := load(must(commitCols.dir(t)))
	for name := range maps.Keys(m) {
		if name == "reserve" {
			continue // is never read
		}
		for _, e := range []error{syscall.EMFILE, syscall.EACCES, syscall.ENOMEM} {
			_, err := verify.StreamOn(context.Background(), &brokenFS{memory: m, name: name, openErr: e}, "s", nil)
			if !errors.Is(err, e) {
				t.Errorf("%s: open fails with %v: got %v", name, e, err)
			}
		}
		r, err := verify.StreamOn(context.Background(), &brokenFS{memory: m, name: name, readErr: syscall.EIO}, "s", nil)
		if strings.HasSuffix(name, ".json") || name == "cursors" {
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: a read fails: %v, want EIO", name, err)
			}
			continue
		}
		if err != nil || !slices.ContainsFunc(r.Problems, func(p verify.Problem) bool { return p.File == name && p.Kind == verify.KindRead }) {
			t.Errorf("%s: a read fails: %v, %v", name, err, r)
		}
	}
}

func TestReportAsJSON(t *testing.T) {
	dir, _ := commitCols.make(t)
	check(os.Remove(filepath.Join(dir, seg8)))
	for n := range journal.Ring {
		_ = os.Remove(filepath.Join(dir, journal.Name(n)))
	}
	var got struct {
		OK       bool             `json:"ok"`
		Problems []map[string]any `json:"problems"`
	}
	check(json.Unmarshal(must(json.Marshal(report(t, dir))), &got))
	if got.OK || len(got.Problems) == 0 {
		t.Fatalf("got %+v", got)
	}
	want := []string{"detail", "file", "from_seq", "kind", "offset", "to_seq"}
	if keys := slices.Sorted(maps.Keys(got.Problems[0])); !slices.Equal(keys, want) {
		t.Errorf("a problem has %v, want %v", keys, want)
	}
	if from := got.Problems[0]["from_seq"]; from != "8" {
		t.Errorf("from_seq is %v, want the string 8", from)
	}
	b := must(json.Marshal(report(t, must(commitCols.dir(t)))))
	if !strings.Contains(string(b), `"ok":true,"problems":[]`) {
		t.Errorf("a clean report is %s", b)
	}
}

// TestVerifyBesideAWriter: a writer rolls, seals and retains as fast as it can;
// verify finds nothing wrong, time and again.
func TestVerifyBesideAWriter(t *testing.T) {
	for _, mode := range []stream.Durability{stream.Commit, stream.Sealed, stream.Os} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s := theFields()
			st := must(stream.Create(dir, stream.Options{Schema: s, Capacity: 64, Durability: mode}))
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				rng := rand.New(rand.NewPCG(3, 4))
				for next := 0; ; {
					select {
					case <-stop:
						return
					default:
					}
					n := 1 + rng.IntN(40)
					if _, _, err := st.Append(records(s, next, n)); err != nil {
						t.Error(err)
						return
					}
					if next += n; rng.IntN(50) == 0 {
						if _, err := st.Retain(keepRecords(500), false); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}()
			for range 40 {
				clean(t, dir)
			}
			close(stop)
			<-done
			check(st.Close())
			clean(t, dir)
		})
	}
}
