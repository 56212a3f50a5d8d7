package ledger

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

var full = flag.Bool("ledger.full", false, "as many segments as the goals name")

// kept is the budget of mapped files in these tests, over all streams.
const kept = 200

// perStream is how many descriptors, and how many mappings, an open stream may
// take: its journals, its lock and its cursors page, whatever the segments are.
const perStream = 6

// process counts the process's descriptors, its mappings, and those of sealed files.
func process(t *testing.T) (descriptors, mappings, sealed int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds), bytes.Count(b, []byte("\n")), bytes.Count(b, []byte(".seg\n"))
}

// inMemory returns a directory that a disk doesn't slow down, where the system has
// room for one: what these tests count is the same.
func inMemory(t *testing.T) string {
	t.Helper()
	const shm, room = "/dev/shm", 1 << 30
	var st syscall.Statfs_t
	if err := syscall.Statfs(shm, &st); err != nil || st.Bavail*uint64(st.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "ledger-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// fill appends records one by one, with their numbers as times.
func fill(t *testing.T, s *stream.Stream, records int) {
	t.Helper()
	rec := make([]byte, s.Schema().Width())
	for i := range records {
		schema.PutTime(rec, int64(i))
		if _, _, err := s.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
}

// readAll reads every record of a stream, and holds it to be what fill appended.
// It calls during while it reads the last one.
func readAll(t *testing.T, s *stream.Stream, records int, during func()) {
	t.Helper()
	n, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	seq := stream.Seq(0)
	for b, err := range n.Range(0, n.End()) {
		if err != nil {
			t.Fatal(err)
		}
		ts, err := segment.ColumnOf[int64](b.Segment(), "ts")
		if err != nil {
			t.Fatal(err)
		}
		for i := range ts.Len() {
			if ts.At(i) != int64(seq) {
				t.Fatalf("record %d has the time %d", seq, ts.At(i))
			}
			seq++
		}
		if int(seq) == records {
			during()
		}
	}
	if int(seq) != records {
		t.Fatalf("read %d records, want %d", seq, records)
	}
}

// TestThousandStreams: a thousand streams in one process, all open, written, sealed
// and read, stay within the budget of mappings and a few descriptors each.
func TestThousandStreams(t *testing.T) {
	many(t, 1000, 3)
}

// TestManySegments: so does a number of segments near the system's limit on
// mappings (with -ledger.full).
func TestManySegments(t *testing.T) {
	segments := 2_000
	if *full {
		segments = 50_000
	}
	many(t, 4, segments/4)
}

// many makes streams of segments with one record each.
func many(t *testing.T, streams, segments int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if want := perStream*streams + 64; limit.Cur < uint64(want) {
		t.Skipf("the system allows %d open files, and this test may need %d", limit.Cur, want)
	}
	defer segment.LimitMaps(segment.LimitMaps(kept))
	fds, mappings, _ := process(t)
	l, err := Open(filepath.Join(inMemory(t), "root"), stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if after, _, sealed := process(t); after > fds+8 || sealed > kept {
			t.Errorf("after Close: %d descriptors, %d before; %d sealed files mapped", after, fds, sealed)
		}
	}()
	name := func(i int) string { return fmt.Sprintf("s%04d", i) }
	for i := range streams {
		s, err := l.Create(name(i), stream.Options{Schema: shapes.FillSchema(), Capacity: 1, Durability: stream.Os})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s, segments)
	}
	most := 0
	for i := range streams {
		s, err := l.Stream(name(i))
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, s, segments, func() {
			if i%(1+streams/8) == 0 || i == streams-1 {
				_, _, sealed := process(t)
				most = max(most, sealed)
			}
		})
	}
	nowFds, nowMappings, _ := process(t)
	t.Logf("%d streams, %d segments: %d descriptors and %d mappings more than before, at most %d of sealed files",
		streams, streams*segments, nowFds-fds, nowMappings-mappings, most)
	if most > kept+1 { // and the one being read
		t.Errorf("%d sealed files were mapped, and the budget is %d", most, kept)
	}
	if most == 0 {
		t.Error("no sealed file was mapped: the test tests nothing")
	}
	if n := nowFds - fds; n > perStream*streams {
		t.Errorf("%d descriptors for %d streams", n, streams)
	}
	if n := nowMappings - mappings; n > kept+perStream*streams+200 {
		t.Errorf("%d mappings more than before for %d streams", n, streams)
	}
}
