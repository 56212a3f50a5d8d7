package faults

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
)

// What a writer tells, a line for each event, each line one write:
//
//	open NEXT              the stream is open, and goes on at NEXT
//	try FROM N             a batch is about to be appended
//	ack FROM N DURABLE     it is acknowledged; below DURABLE all is on disk
//	durable N              a Sync, Seal or Close has made all below N durable
//	retain FROM            all below FROM is about to be dropped, but for whole segments
//	fail WHAT: ERROR       an error
//	bug TEXT               something that must not be
//	points N               the points of Hooked that were passed
//	end                    the run is over

// A Teller writes a writer's lines. Any number of goroutines may use it.
type Teller struct {
	mu sync.Mutex
	w  io.Writer
}

// NewTeller returns one that writes to w.
func NewTeller(w io.Writer) *Teller { return &Teller{w: w} }

// Say writes one line.
func (t *Teller) Say(format string, a ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := strings.ReplaceAll(fmt.Sprintf(format, a...), "\n", "; ")
	_, _ = io.WriteString(t.w, line+"\n") // whoever doesn't listen has ended us
}

// Told is what a writer has told so far: what must be there, and what may be.
type Told struct {
	Created  bool   // a stream was open
	Acked    uint64 // all below is acknowledged: it survives the writer's death
	Durable  uint64 // all below survives a power cut
	Tried    uint64 // nothing from here on was appended
	Retained uint64 // retention may have taken what is below
	Acks     int
	Fails    []string
	Bugs     []string
	Points   int
	Ended    bool
	Last     []string // its last lines
}

// String is what a failed test shows.
func (t *Told) String() string {
	return fmt.Sprintf("created %t, acknowledged %d, durable %d, tried %d, retained %d; last told:\n\t%s",
		t.Created, t.Acked, t.Durable, t.Tried, t.Retained, strings.Join(t.Last, "\n\t"))
}

// Listen reads a writer's lines to their end. Half a line, of a writer that was
// killed, is none. each, if not nil, is called behind each line.
func (t *Told) Listen(r io.Reader, commit bool, each func(line string)) {
	b := bufio.NewReader(r)
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			return
		}
		t.take(strings.TrimSuffix(line, "\n"), commit)
		if each != nil {
			each(line)
		}
	}
}

func (t *Told) take(line string, commit bool) {
	if t.Last = append(t.Last, line); len(t.Last) > 60 {
		t.Last = t.Last[30:]
	}
	var a, n, d uint64
	what, rest, _ := strings.Cut(line, " ")
	_, _ = fmt.Sscan(rest, &a, &n, &d)
	switch what {
	case "open":
		t.Created = true
		t.Tried = max(t.Tried, a)
		if a < t.Acked {
			t.Bugs = append(t.Bugs, fmt.Sprintf("open at %d, and all below %d was acknowledged", a, t.Acked))
		}
	case "try":
		t.Tried = max(t.Tried, a+n)
	case "ack":
		t.Acks++
		t.Acked = max(t.Acked, a+n)
		t.Durable = max(t.Durable, d)
		if commit {
			t.Durable = max(t.Durable, a+n)
		}
	case "durable":
		t.Durable = max(t.Durable, a)
	case "retain":
		t.Retained = max(t.Retained, a)
	case "fail":
		t.Fails = append(t.Fails, rest)
	case "bug":
		t.Bugs = append(t.Bugs, rest)
	case "points":
		t.Points = int(a)
	case "end":
		t.Ended = true
	}
}
