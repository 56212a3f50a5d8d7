package journal

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"example.com/ledger/internal/disk"
)

// Name is the file name of journal n of the ring.
func Name(n int) string { return "journal." + strconv.Itoa(n) }

// ParseName is the inverse of Name. ok is false for any other name.
func ParseName(name string) (n int, ok bool) {
	digit, found := strings.CutPrefix(name, "journal.")
	if !found || len(digit) != 1 || digit[0] < '0' || digit[0] >= '0'+Ring {
		return 0, false
	}
	return int(digit[0] - '0'), true
}

// Make creates journal n in dir, filled with zeros and on disk under its name.
// A file of that name is replaced. Only when Make returned nil is it ready. A
// failed sync of the directory is a *NameError; after any other error Make can
// be tried again.
func Make(fsys disk.FS, dir string, n, capacity, width int) error {
	late, err := disk.Replace(fsys, filepath.Join(dir, Name(n)), disk.Zeros(Size(capacity, width)))
	if late != nil {
		return &NameError{late}
	}
	return err
}

// A NameError is the failed sync of the directory in which a journal got its
// name. As that of any sync of a directory it is final: no later success may be
// believed.
type NameError struct{ Err error }

// Error tells the cause.
func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NameError) Unwrap() error { return e.Err }

// Way is how a journal's bytes are written: one file is written one way.
type Way int

// Ways to write.
const (
	ByWrite  Way = iota // pwrite: fastest under a sync for each batch (Commit)
	ByStores            // stores into a mapping: no system call (Sealed, Os)
)

// A Journal is one open file of the ring. One goroutine at a time may write;
// Sync and Flush may run beside writes and beside each other.
type Journal struct {
	N        int
	Capacity int

	file  disk.File
	syncs chan disk.File // idle file descriptions for Sync, each its own
	all   []disk.File
	m     disk.Mapping // nil unless ByStores
	bytes []byte
	size  int64

	header Header
	seed   uint32
	pos    int64
	gather gather // of ByWrite

	// Scratch of headers, with the zeros between them, and of marks.
	head [HeaderCopy + HeaderSize]byte
	tail [FrameSize]byte
}

// Open opens journal n of dir. syncs is how many Syncs may overlap, at least 1.
func Open(fsys disk.FS, dir string, n, width int, way Way, syncs int) (*Journal, error) {
	path := filepath.Join(dir, Name(n))
	f, err := fsys.OpenRW(path)
	if err != nil {
		return nil, err
	}
	j := &Journal{N: n, file: f, all: []disk.File{f}, syncs: make(chan disk.File, syncs)}
	j.syncs <- f
	if err := j.open(fsys, path, width, way, syncs); err != nil {
		_ = j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open(fsys disk.FS, path string, width int, way Way, syncs int) error {
	var err error
	if j.size, err = j.file.Size(); err != nil {
		return err
	}
	capacity, ok := Capacity(j.size, width)
	if !ok {
		return &disk.CorruptError{Path: path, Offset: -1, Field: "size",
			Detail: fmt.Sprintf("%d bytes is no journal of records of %d bytes", j.size, width)}
	}
	j.Capacity = capacity
	for len(j.all) < syncs {
		f, err := fsys.OpenRW(path)
		if err != nil {
			return err
		}
		j.all = append(j.all, f)
		j.syncs <- f
	}
	if way == ByStores {
		if j.m, err = j.file.Map(int(j.size), true); err != nil {
			return err
		}
		j.bytes = j.m.Bytes()
	}
	return nil
}

// Ready gets ready for the first frames: it allocates what ByWrite gathers them in.
func (j *Journal) Ready() {
	if j.m == nil {
		j.gather.ready()
	}
}

// Touch writes a byte of each page of a mapping, the one that is there, so that
// the stores of its life don't fault, one page at a time, on the append path: a
// page that was written back since its last store is write-protected. Nobody may use
// the journal meanwhile.
func (j *Journal) Touch() {
	_ = disk.Guard(func() error { // Start will tell of a fault
		for i := 0; i < len(j.bytes); i += 4096 {
			p := (*atomic.Uint32)(unsafe.Pointer(&j.bytes[i]))
			p.Or(0)
		}
		return nil
	})
}

// Populate is Touch beside appends, as far as the system can do that; it must not
// run beside Close.
func (j *Journal) Populate() {
	if j.m != nil {
		j.m.Populate()
	}
}

// Close closes all of the journal's files. It syncs nothing.
func (j *Journal) Close() error {
	var first error
	if j.m != nil {
		first = j.m.Unmap()
		j.m, j.bytes = nil, nil
	}
	for _, f := range j.all {
		if err := f.Close(); first == nil {
			first = err
		}
	}
	j.all = nil
	return first
}

// Resume goes on behind a closing mark: the journal's next frame stands at pos.
func (j *Journal) Resume(h Header, pos int64) {
	j.header, j.seed, j.pos = h, seed(h.Salt), pos
}

// Header returns the header of the journal's present life.
func (j *Journal) Header() Header { return j.header }

// Room is how many bytes of frames still fit.
func (j *Journal) Room() int { return int(j.size - FrameSize - j.pos) }

// Pos returns the offset of the next frame.
func (j *Journal) Pos() int64 { return j.pos }

// Start begins a new life of the journal: both headers are written, and the
// next frame stands at FramesAt. Nothing is synced: the first sync of a frame
// covers the headers too.
func (j *Journal) Start(h Header) error {
	j.Prepare(h)
	return j.WriteHeader()
}

// Prepare is Start without the writing of headers: frames may be written first,
// and the headers when those are on disk.
func (j *Journal) Prepare(h Header) {
	_ = j.Flush() // of its last life; an error is final, and the next write returns it
	j.header, j.seed, j.pos = h, seed(h.Salt), FramesAt
}

// WriteHeader writes both copies of the header of the present life.
func (j *Journal) WriteHeader() error {
	h := j.header.Append(j.head[:0])
	copy(j.head[HeaderCopy:], h)
	return j.put(j.head[:], 0)
}

// ZeroHeaders makes the journal no journal. It is durable after the next Sync.
func (j *Journal) ZeroHeaders() error {
	var page [FramesAt]byte
	return j.put(page[:], 0)
}

// put writes b at off, the journal's way. Where others have cut a mapped file
// short, that is ErrFault. Frames are stored without that protection, which would
// cost a third of an append of one record: see docs/reliability.md.
func (j *Journal) put(b []byte, off int64) error {
	if off+int64(len(b)) > j.size {
		return fmt.Errorf("ledger: journal %d: write of %d bytes at %d is beyond its end", j.N, len(b), off)
	}
	if j.m == nil {
		if err := j.Flush(); err != nil {
			return err
		}
		_, err := j.file.WriteAt(b, off)
		return err
	}
	return disk.Guard(func() error {
		copy(j.bytes[off:], b)
		return nil
	})
}

// Rewrite writes bytes that are there already once more, so that a sync that
// follows puts them on disk whatever became of an earlier one.
func (j *Journal) Rewrite(b []byte, off int64) error { return j.put(b, off) }

// Records appends a frame of whole records, whose numbers are stamped in. By
// stores it is in the file then, ByWrite after the next Flush or Sync. An error
// means that the file may hold any part of what was appended since the last one.
func (j *Journal) Records(recs []byte, more bool, durable uint64) error {
	n := 1
	if len(recs) != int(j.header.Width) { // a division is a tenth of an append of one
		n = len(recs) / int(j.header.Width)
	}
	return j.append(KindRecords, recs, n, more, durable)
}

// Extension appends an extension frame. len(data) must be a multiple of 8.
func (j *Journal) Extension(data []byte, durable uint64) error {
	return j.append(KindExtension, data, len(data)/8, false, durable)
}

// Mark writes a mark at the place of the next frame, which will overwrite it.
func (j *Journal) Mark(closing bool, durable uint64) error {
	kind := uint32(KindMark)
	if closing {
		kind = KindClosing
	}
	putFrame(j.tail[:], j.seed, kind, 0, false, durable)
	return j.put(j.tail[:], j.pos)
}

func (j *Journal) append(kind uint32, payload []byte, count int, more bool, durable uint64) error {
	size := FrameSize + len(payload)
	if j.pos+int64(size) > j.size-FrameSize { // the last bytes are a mark's
		return fmt.Errorf("ledger: journal %d: frame of %d bytes at %d is beyond its end", j.N, size, j.pos)
	}
	if j.m != nil {
		b := j.bytes[j.pos : j.pos+int64(size) : j.pos+int64(size)]
		copy(b[FrameSize:], payload)
		putFrame(b, j.seed, kind, count, more, durable)
		j.pos += int64(size)
		return nil
	}
	b, full := j.gather.grow(size, j.pos)
	copy(b[FrameSize:], payload)
	putFrame(b, j.seed, kind, count, more, durable)
	j.gather.mu.Unlock()
	j.pos += int64(size)
	if full {
		return j.Flush()
	}
	return nil
}

// Sync makes all that was written before the call durable. Each call under way
// at once uses a file description of its own, so that each is told of an error;
// with all in use a further call waits for one. Its first error is final.
func (j *Journal) Sync() error {
	if err := j.Flush(); err != nil {
		return err
	}
	f := <-j.syncs
	err := f.DataSync()
	j.syncs <- f
	return err
}

// Syncs is how many Syncs may overlap.
func (j *Journal) Syncs() int { return cap(j.syncs) }
