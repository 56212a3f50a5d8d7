package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ledger/internal/disk"
)

var ways = map[string]Way{"ByWrite": ByWrite, "ByStores": ByStores}

// bothWays runs a test on a new journal 2, written each way.
func bothWays(t *testing.T, capacity int, test func(t *testing.T, dir string, j *Journal)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := Make(disk.OS(), dir, 2, capacity, testWidth); err != nil {
				t.Fatal(err)
			}
			test(t, dir, open(t, dir, way))
		})
	}
}

func open(t *testing.T, dir string, way Way) *Journal {
	t.Helper()
	j, err := Open(disk.OS(), dir, 2, testWidth, way, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	j.Ready()
	j.Touch()
	return j
}

func fileBytes(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, Name(2)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// must fails the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMake(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, Name(2)), []byte("what was there"), 0o600),
		os.WriteFile(filepath.Join(dir, Name(2)+".tmp"), bytes.Repeat([]byte{1}, 1<<20), 0o600),
		Make(disk.OS(), dir, 2, 8, testWidth))
	if b := fileBytes(t, dir); int64(len(b)) != Size(8, testWidth) || len(bytes.Trim(b, "\x00")) > 0 {
		t.Errorf("%d bytes, not all of them zero, want %d zeros", len(b), Size(8, testWidth))
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("the directory has %v", names)
	}
}

// failing is the disk with one operation that fails.
type failing struct {
	disk.FS
	op string
}

var errDisk = errors.New("the disk failed")

func (f failing) Rename(from, to string) error {
	if f.op == "rename" {
		return errDisk
	}
	return f.FS.Rename(from, to)
}

func (f failing) SyncDir(path string) error {
	if f.op == "syncdir" {
		return errDisk
	}
	return f.FS.SyncDir(path)
}

func (f failing) Create(path string) (disk.File, error) {
	if f.op == "create" {
		return nil, errDisk
	}
	file, err := f.FS.Create(path)
	return failingFile{file, f.op}, err
}

type failingFile struct {
	disk.File
	op string
}

func (f failingFile) WriteAt(b []byte, off int64) (int, error) {
	if f.op == "write" && off > 0 {
		return 0, errDisk
	}
	return f.File.WriteAt(b, off)
}

func (f failingFile) Sync() error {
	if f.op == "sync" {
		return errDisk
	}
	return f.File.Sync()
}

// TestMakeFails: a journal that could not be made leaves no name behind; what
// had the name before stays.
func TestMakeFails(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "rename", "syncdir"} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, Name(2)), []byte("old"), 0o600))
		if err := Make(failing{disk.OS(), op}, dir, 2, 8, testWidth); !errors.Is(err, errDisk) {
			t.Errorf("%s fails: %v", op, err)
		}
		names, _ := os.ReadDir(dir)
		if old := string(fileBytes(t, dir)) == "old"; len(names) != 1 || old == (op == "syncdir") {
			t.Errorf("%s fails: the directory has %v, the old file is there: %v", op, names, old)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(disk.OS(), dir, 2, testWidth, ByWrite, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, size := range []int64{0, 4096, Size(8, testWidth) - 1, Size(8, testWidth) + 8, Size(8, 32)} {
		must(t, os.WriteFile(filepath.Join(dir, Name(2)), make([]byte, size), 0o600))
		if _, err := Open(disk.OS(), dir, 2, testWidth, ByStores, 2); !errors.Is(err, disk.ErrCorrupt) {
			t.Errorf("%d bytes: %v, want ErrCorrupt", size, err)
		}
	}
}

// TestWriteAndRead: what is written either way is what Read finds, byte for
// byte the same file, from life to life.
func TestWriteAndRead(t *testing.T) {
	files := make(map[string][]byte)
	bothWays(t, 8, func(t *testing.T, dir string, j *Journal) {
		if j.Capacity != 8 || j.N != 2 || j.Syncs() != 3 {
			t.Fatalf("capacity %d, number %d, %d syncs", j.Capacity, j.N, j.Syncs())
		}
		h := Header{Width: testWidth, Generation: 1, First: 10, Salt: 5, Tag: 9}
		must(t, j.Start(h), j.Extension([]byte("12345678"), 10), j.Records(rowsOf(10, 2, testWidth), false, 10),
			j.Mark(false, 12), j.Records(rowsOf(12, 1, testWidth), true, 12), j.Mark(true, 12), j.Sync())
		if j.Header() != h || j.Pos() != FramesAt+24+16+2*testWidth+one {
			t.Errorf("header %+v, next frame at %d", j.Header(), j.Pos())
		}
		got := seenOf(readBytes(t, fileBytes(t, dir), 8))
		want := seen{frames: "10+2 12+1m", end: 13, stop: j.Pos() - FramesAt, kind: KindClosing, durable: 12, exts: 1}
		if got != want {
			t.Fatalf("first life: %+v, want %+v", got, want)
		}

		h2 := Header{Width: testWidth, Generation: 2, First: 18, Salt: 6, Tag: 9}
		must(t, j.Start(h2), j.Records(rowsOf(18, 1, testWidth), false, 18), j.Sync())
		got, want = seenOf(readBytes(t, fileBytes(t, dir), 8)), seen{frames: "18+1", end: 19, stop: one, kind: -1, durable: 18}
		if got != want {
			t.Fatalf("second life: %+v, want %+v", got, want)
		}
		files[t.Name()] = fileBytes(t, dir)
	})
	var all [][]byte
	for _, b := range files {
		all = append(all, b)
	}
	if len(all) != 2 || !bytes.Equal(all[0], all[1]) {
		t.Error("the two ways wrote different files")
	}
}

// TestResume: a journal goes on behind its closing mark, which the next frame
// overwrites.
func TestResume(t *testing.T) {
	for name, way := range ways {
		for again, way2 := range ways {
			t.Run(name+" then "+again, func(t *testing.T) {
				dir := t.TempDir()
				must(t, Make(disk.OS(), dir, 2, 8, testWidth))
				j := open(t, dir, way)
				must(t, j.Start(Header{Width: testWidth, First: 3, Salt: 1}), j.Records(rowsOf(3, 3, testWidth), false, 0),
					j.Sync(), j.Mark(true, 6), j.Close())
				s := readBytes(t, fileBytes(t, dir), 8)
				if s.StopKind != KindClosing || s.StopDurable != 6 {
					t.Fatalf("after Close: %+v", s)
				}
				j = open(t, dir, way2)
				j.Resume(s.Header, s.Stop)
				must(t, j.Records(rowsOf(6, 2, testWidth), false, 6), j.Sync())
				got := seenOf(readBytes(t, fileBytes(t, dir), 8))
				if want := (seen{frames: "3+3 6+2", end: 8, stop: 2*FrameSize + 5*testWidth, kind: -1, durable: 6}); got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			})
		}
	}
}

// TestPrepare: frames that are written first don't count before their header does.
func TestPrepare(t *testing.T) {
	bothWays(t, 8, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth, Generation: 1, First: 3, Salt: 1}), j.Records(rowsOf(3, 1, testWidth), false, 0))
		j.Prepare(Header{Width: testWidth, Generation: 2, First: 5, Salt: 2, Base: 7})
		must(t, j.Records(rowsOf(5, 2, testWidth), false, 5), j.Sync())
		if got := seenOf(readBytes(t, fileBytes(t, dir), 8)); got != (seen{end: 3, kind: -1}) {
			t.Errorf("before the header: %+v", got)
		}
		must(t, j.WriteHeader(), j.Sync())
		want := seen{frames: "5+2", end: 7, stop: FrameSize + 2*testWidth, kind: -1, durable: 7}
		if got := seenOf(readBytes(t, fileBytes(t, dir), 8)); got != want {
			t.Errorf("after it: %+v, want %+v", got, want)
		}
	})
}

func TestZeroHeaders(t *testing.T) {
	bothWays(t, 8, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth, First: 3}), j.Records(rowsOf(3, 1, testWidth), false, 0), j.ZeroHeaders(), j.Sync())
		if _, ok, err := DecodeHeaders(fileBytes(t, dir)); ok || err != nil {
			t.Errorf("a header is there: %v, %v", ok, err)
		}
	})
}

func TestRewrite(t *testing.T) {
	bothWays(t, 8, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth, First: 3}), j.Records(rowsOf(3, 4, testWidth), false, 0), j.Flush())
		before := fileBytes(t, dir)
		if got := seenOf(readBytes(t, before, 8)); got.frames != "3+4" {
			t.Fatalf("before: %+v", got)
		}
		must(t, j.Rewrite(before[FramesAt:j.Pos()], FramesAt), j.Sync())
		if !bytes.Equal(fileBytes(t, dir), before) {
			t.Error("the file has changed")
		}
	})
}

// TestFull: a journal takes its capacity in frames of a record each and a mark;
// what doesn't fit changes nothing, and the file never grows.
func TestFull(t *testing.T) {
	bothWays(t, 3, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth, First: 3}))
		for n := range uint64(3) {
			must(t, j.Records(rowsOf(3+n, 1, testWidth), false, 3))
		}
		must(t, j.Mark(false, 6))
		before := fileBytes(t, dir)
		pos := j.Pos()
		if j.Room() != 0 {
			t.Errorf("Room is %d", j.Room())
		}
		for name, err := range map[string]error{
			"a record":        j.Records(rowsOf(6, 1, testWidth), false, 6),
			"an extension":    j.Extension(nil, 6),
			"bytes elsewhere": j.Rewrite(make([]byte, 8), int64(len(before))-7),
		} {
			if err == nil {
				t.Errorf("%s was written beyond the end", name)
			}
		}
		if !bytes.Equal(fileBytes(t, dir), before) || j.Pos() != pos {
			t.Error("the file has changed")
		}
		if got := seenOf(readBytes(t, before, 3)); got.frames != "3+1 4+1 5+1" || got.kind != KindMark || got.durable != 6 {
			t.Errorf("%+v", got)
		}
	})
}

// TestSyncsOverlap: Syncs beside each other and beside writes, more of them than
// there are file descriptions. The race detector looks on.
func TestSyncsOverlap(t *testing.T) {
	bothWays(t, 400, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth}))
		var syncs sync.WaitGroup
		errs := make(chan error, 8)
		for range 8 {
			syncs.Go(func() { errs <- j.Sync() })
		}
		for n := range uint64(400) {
			must(t, j.Records(rowsOf(n, 1, testWidth), false, n))
		}
		syncs.Wait()
		for range 8 {
			must(t, <-errs)
		}
		must(t, j.Flush()) // of what came behind the last Sync
		if s := readBytes(t, fileBytes(t, dir), 400); len(s.Frames) != 400 {
			t.Errorf("%d frames", len(s.Frames))
		}
	})
}

// TestAppendAllocatesNothing holds for frames up to the size of the scratch,
// for marks and for the start of a life.
func TestAppendAllocatesNothing(t *testing.T) {
	bothWays(t, 4000, func(t *testing.T, dir string, j *Journal) {
		rows := rowsOf(0, 20, testWidth)
		for name, op := range map[string]func() error{
			"Start":     func() error { return j.Start(Header{Width: testWidth}) },
			"Records":   func() error { return j.Records(rows, false, 0) },
			"Extension": func() error { return j.Extension(rows, 0) },
			"Mark":      func() error { return j.Mark(false, 0) },
		} {
			must(t, j.Start(Header{Width: testWidth}))
			var err error
			if n := testing.AllocsPerRun(100, func() { err = errors.Join(err, op()) }); n != 0 || err != nil {
				t.Errorf("%s: %v allocations, %v", name, n, err)
			}
		}
	})
}

// TestLargeFrame: a frame above the size of the scratch is written whole.
func TestLargeFrame(t *testing.T) {
	bothWays(t, 8000, func(t *testing.T, dir string, j *Journal) {
		must(t, j.Start(Header{Width: testWidth}), j.Records(rowsOf(0, 4000, testWidth), false, 0), j.Records(rowsOf(4000, 4000, testWidth), false, 0), j.Flush())
		s := readBytes(t, fileBytes(t, dir), 8000)
		if got := fmt.Sprint(frameText(s.Frames)); got != "0+4000 4000+4000" || !slices.Equal(s.Records(s.Frames[1]), rowsOf(4000, 4000, testWidth)) {
			t.Errorf("the frames are %s", got)
		}
	})
}

// brittle is a file whose writes fail from some point on.
type brittle struct {
	disk.File
	fails atomic.Bool
}

var errBrittle = errors.New("the disk is gone")

func (f *brittle) WriteAt(b []byte, off int64) (int, error) {
	if f.fails.Load() {
		return 0, errBrittle
	}
	return f.File.WriteAt(b, off)
}

// TestGather: frames of many appends are one write; they are read back as one
// would write them alone; a failed write fails every later sync, whatever that
// one writes itself.
func TestGather(t *testing.T) {
	dir := t.TempDir()
	must(t, Make(disk.OS(), dir, 2, 8, testWidth))
	j, err := Open(disk.OS(), dir, 2, testWidth, ByWrite, 2)
	must(t, err)
	defer j.Close()
	f := &brittle{File: j.file}
	j.file = f
	j.Ready()
	must(t, j.Start(Header{Width: testWidth, First: 0, Salt: 1}))
	for i := range 3 {
		must(t, j.Records(rowsOf(uint64(i), 1, testWidth), false, 0))
	}
	if got := seenOf(readBytes(t, fileBytes(t, dir), 8)); got.frames != "" {
		t.Errorf("before a flush: %+v", got)
	}
	must(t, j.Sync(), j.Records(rowsOf(3, 2, testWidth), false, 0), j.Flush(), j.Flush())
	if got := seenOf(readBytes(t, fileBytes(t, dir), 8)); got.frames != "0+1 1+1 2+1 3+2" {
		t.Errorf("flushed: %+v", got)
	}
	f.fails.Store(true)
	must(t, j.Records(rowsOf(5, 1, testWidth), false, 0))
	if err := j.Sync(); !errors.Is(err, errBrittle) {
		t.Errorf("a sync whose write fails: %v", err)
	}
	f.fails.Store(false)
	must(t, j.Records(rowsOf(6, 1, testWidth), false, 0))
	for _, op := range []func() error{j.Sync, j.Flush, func() error { return j.Mark(false, 7) }, func() error { return j.Start(Header{Width: testWidth}) }} {
		if err := op(); !errors.Is(err, errBrittle) {
			t.Errorf("behind it: %v", err)
		}
	}
}

// slow is a file whose next write waits until it may end, with an error; a sync
// while it waits is wrong.
type slow struct {
	disk.File
	began, end chan struct{}
	err        error
	writing    *atomic.Bool
	wrong      *atomic.Bool
}

func (f *slow) WriteAt(b []byte, off int64) (int, error) {
	f.writing.Store(true)
	defer f.writing.Store(false)
	close(f.began)
	<-f.end
	if f.err != nil {
		return 0, f.err
	}
	return f.File.WriteAt(b, off)
}

func (f *slow) DataSync() error {
	if f.writing.Load() {
		f.wrong.Store(true)
	}
	return f.File.DataSync()
}

// TestGatherOverlap: a sync that overlaps another covers what that one still
// writes: it doesn't begin before the write ended, and fails if that failed.
func TestGatherOverlap(t *testing.T) {
	for _, fails := range []error{nil, errBrittle} {
		dir := t.TempDir()
		must(t, Make(disk.OS(), dir, 2, 8, testWidth))
		j, err := Open(disk.OS(), dir, 2, testWidth, ByWrite, 2)
		must(t, err)
		defer j.Close()
		must(t, j.Start(Header{Width: testWidth, Salt: 1}), j.Records(rowsOf(0, 1, testWidth), false, 0))
		var writing, wrong atomic.Bool
		began, end := make(chan struct{}), make(chan struct{})
		j.file = &slow{j.file, began, end, fails, &writing, &wrong}
		for range cap(j.syncs) {
			j.syncs <- &slow{File: <-j.syncs, writing: &writing, wrong: &wrong}
		}
		errs := make(chan error, 2)
		go func() { errs <- j.Sync() }()
		<-began
		go func() { errs <- j.Sync() }() // all that it covers is being written
		for range 10_000 {
			runtime.Gosched() // time enough for a sync that doesn't wait
		}
		close(end)
		for range 2 {
			if err := <-errs; !errors.Is(err, fails) {
				t.Errorf("sync: %v, want %v", err, fails)
			}
		}
		if wrong.Load() {
			t.Error("a sync began while frames that it covers were being written")
		}
	}
}
