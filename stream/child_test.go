package stream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// Tests that need another process run this binary again. What it does then is
// named in its environment, and TestMain turns to it instead of the tests.
const (
	childRole = "LEDGER_STREAM_CHILD"
	childDir  = "LEDGER_STREAM_DIR"
	childMode = "LEDGER_STREAM_MODE"
	childSeed = "LEDGER_STREAM_SEED"
)

var childRoles = map[string]func(dir string, out io.Writer) error{
	"write": writeChild,
}

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := childRoles[role](os.Getenv(childDir), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A child is a process that runs one of childRoles. Its messages come over a pipe.
type child struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser // its standard input; a role may wait for its end
}

func startChild(t testing.TB, role, dir string, env ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir)
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stderr = os.Stderr
	c.in = must[io.WriteCloser](t)(c.cmd.StdinPipe())
	c.out = bufio.NewReader(must[io.ReadCloser](t)(c.cmd.StdoutPipe()))
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	return c
}

// kill ends the process as kill -9 does. What it had written can still be read.
func (c *child) kill() { _ = c.cmd.Process.Kill() }

// A message is what a writing child tells: each is one write to the pipe.
type message struct {
	kind byte // 'o' opened, 'a' a batch was acknowledged, 'r' about to retain
	from uint64
	n    uint64
}

const messageSize = 17

func (m message) send(w io.Writer) error {
	b := append(make([]byte, 0, messageSize), m.kind)
	b = binary.LittleEndian.AppendUint64(b, m.from)
	_, err := w.Write(binary.LittleEndian.AppendUint64(b, m.n))
	return err
}

// next reads the next message; ok is false when the child has ended.
func (c *child) next() (m message, ok bool) {
	var b [messageSize]byte
	if _, err := io.ReadFull(c.out, b[:]); err != nil {
		return m, false
	}
	return message{b[0], binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:])}, true
}

// stampSchema is of records that say which batch they are of, so that whoever
// reads them can tell whether a batch is whole: 32 bytes.
var stampSchema = func() *schema.Schema {
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "first", Kind: schema.U64},
		schema.Field{Name: "n", Kind: schema.U32}, schema.Field{Name: "sum", Kind: schema.U32})
	if err != nil {
		panic(err)
	}
	return s
}()

func stampSum(seq, first uint64, n uint32) uint32 {
	x := (seq+1)*0x9e3779b97f4a7c15 ^ (first+7)*0xbf58476d1ce4e5b9 ^ uint64(n)*0x94d049bb133111eb
	return uint32(x ^ x>>31)
}

// stamped makes the batch of n records that begins at first.
func stamped(first uint64, n int) []byte {
	w := stampSchema.Width()
	b := make([]byte, n*w)
	for i := range n {
		r := b[i*w:]
		seq := first + uint64(i)
		schema.PutSeq(r, seq)
		schema.PutTime(r, int64(seq))
		binary.LittleEndian.PutUint64(r[16:], first)
		binary.LittleEndian.PutUint32(r[24:], uint32(n))
		binary.LittleEndian.PutUint32(r[28:], stampSum(seq, first, uint32(n)))
	}
	return b
}

// A stampCheck follows records of stamped batches in order.
type stampCheck struct {
	next  uint64 // the number that comes next
	begun bool
	inOne uint64 // the batch under way ends here; 0 if none is
}

// add takes more records. After a gap, which the caller knows of, call skip.
func (c *stampCheck) add(rows []byte) error {
	for w := stampSchema.Width(); len(rows) > 0; rows = rows[w:] {
		seq := schema.Seq(rows)
		first := binary.LittleEndian.Uint64(rows[16:])
		n := binary.LittleEndian.Uint32(rows[24:])
		switch {
		case seq != c.next:
			return fmt.Errorf("record %d where %d comes next", seq, c.next)
		case schema.Time(rows) != int64(seq) || binary.LittleEndian.Uint32(rows[28:]) != stampSum(seq, first, n):
			return fmt.Errorf("record %d is damaged: %x", seq, rows[:w])
		case c.inOne == 0 && c.begun && seq != first:
			return fmt.Errorf("record %d is of the batch at %d, whose beginning is not there", seq, first)
		case c.inOne != 0 && first+uint64(n) != c.inOne:
			return fmt.Errorf("record %d is of the batch [%d, %d), inside one that ends at %d", seq, first, first+uint64(n), c.inOne)
		}
		c.begun, c.inOne, c.next = true, first+uint64(n), seq+1
		if c.inOne == c.next {
			c.inOne = 0
		}
	}
	return nil
}

// skip goes on at seq, behind records that are gone.
func (c *stampCheck) skip(seq uint64) { *c = stampCheck{next: seq} }

// whole tells that the last batch has ended.
func (c *stampCheck) whole() error {
	if c.inOne != 0 {
		return fmt.Errorf("the batch that ends at %d is cut at %d", c.inOne, c.next)
	}
	return nil
}

// checkSnapshot reads all of a snapshot of stamped batches.
func checkSnapshot(n *Snapshot) error {
	c := stampCheck{next: uint64(n.First())}
	var rows []byte
	for b, err := range n.Range(n.First(), n.End()) {
		if gone, ok := errors.AsType[*DroppedError](err); ok {
			c.skip(uint64(gone.To))
			continue
		}
		if err != nil {
			return err
		}
		if rows, err = b.Rows(rows[:0]); err != nil {
			return err
		}
		if err := c.add(rows); err != nil {
			return err
		}
	}
	if c.next != uint64(n.End()) {
		return fmt.Errorf("reading ends at %d, the snapshot at %d", c.next, n.End())
	}
	return c.whole()
}

func seedOf(env string) *rand.Rand {
	seed, _ := strconv.ParseUint(os.Getenv(env), 10, 64)
	return rand.New(rand.NewPCG(seed, 17))
}

// writeChild appends stamped batches until it is killed or its input ends, with
// rolls, seals and retention, and tells of each acknowledgement.
func writeChild(dir string, out io.Writer) error {
	mode, err := ParseDurability(os.Getenv(childMode))
	if err != nil {
		return err
	}
	rng := seedOf(childSeed)
	s, err := Open(dir, OpenOptions{})
	if errors.Is(err, ErrNotFound) {
		s, err = Create(dir, Options{Schema: stampSchema, Capacity: 13, Durability: mode})
	}
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	err = message{kind: 'o', from: uint64(s.Cursors().Appended)}.send(out)
	for err == nil {
		select {
		case <-stop:
			return s.Close()
		default:
			err = writeStep(s, rng, out)
		}
	}
	return errors.Join(err, s.Close())
}

func writeStep(s *Stream, rng *rand.Rand, out io.Writer) error {
	next := uint64(s.Cursors().Appended)
	switch k := rng.IntN(60); {
	case k == 0:
		return s.Seal()
	case k == 1 && next > 100:
		if err := (message{kind: 'r', from: next - 100}).send(out); err != nil {
			return err
		}
		_, err := s.Retain(retention.Policy{BeforeSeq: next - 100}, false)
		return err
	}
	n := 1 + rng.IntN(4)
	if rng.IntN(8) == 0 {
		n = 1 + rng.IntN(26)
	}
	if _, _, err := s.AppendAt(Seq(next), stamped(next, n)); err != nil {
		return err
	}
	return message{kind: 'a', from: next, n: uint64(n)}.send(out)
}
