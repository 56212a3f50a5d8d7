// Package faults is the fault campaign: a scripted writer whose files a test
// damages, whose calls it fails, whose process it kills and under whose disk it
// cuts the power; and what the writer's acknowledgements then promise.
//
// The writer runs as a process of its own, a Victim. The tests that
// need no more than a process and its files run with all others; those that need
// root, loop devices or strace have the build tag faultfs. Nothing of the engine
// imports this package. docs/reliability.md tells what is proved where.
package faults

import (
	"encoding/binary"
	"errors"
	"fmt"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// Schema is of records that say which batch they are of, so that whoever reads
// them can tell whether each is right and each batch whole. A record has 40
// bytes, 7 of them padding.
func Schema() *schema.Schema { return stamps }

var stamps = func() *schema.Schema {
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "first", Kind: schema.U64},
		schema.Field{Name: "n", Kind: schema.U32}, schema.Field{Name: "sum", Kind: schema.U32},
		schema.Field{Name: "low", Kind: schema.U8})
	if err != nil {
		panic(err)
	}
	return s
}()

// Batch makes the batch of n records that begins at first.
func Batch(first uint64, n int) []byte {
	w := stamps.Width()
	b := make([]byte, n*w)
	for i := range n {
		stamp(b[i*w:], first+uint64(i), first, uint32(n))
	}
	return b
}

func stamp(r []byte, seq, first uint64, n uint32) {
	schema.PutSeq(r, seq)
	schema.PutTime(r, int64(seq-seq%3)) // not sorted, and equal at times
	binary.LittleEndian.PutUint64(r[16:], first)
	binary.LittleEndian.PutUint32(r[24:], n)
	x := (seq+1)*0x9e3779b97f4a7c15 ^ (first+7)*0xbf58476d1ce4e5b9 ^ uint64(n)*0x94d049bb133111eb
	binary.LittleEndian.PutUint32(r[28:], uint32(x^x>>31))
	r[32] = byte(seq)
}

// A Follower takes records of Batches in order and says what is wrong with them.
type Follower struct {
	Next  uint64 // the number that comes next
	Torn  bool   // batches may be torn: a power loss may do it, but on a Commit stream
	begun bool
	inOne uint64 // the batch under way ends here; 0 if none is
}

// Add takes more records. Behind records that are gone, call Skip.
func (c *Follower) Add(rows []byte) error {
	var want [40]byte
	for w := stamps.Width(); len(rows) > 0; rows = rows[w:] {
		seq := schema.Seq(rows)
		first := binary.LittleEndian.Uint64(rows[16:])
		n := binary.LittleEndian.Uint32(rows[24:])
		stamp(want[:], c.Next, first, n)
		end := first + uint64(n)
		switch {
		case string(want[:w]) != string(rows[:w]) || seq < first || seq >= end:
			return fmt.Errorf("record %d is %x", c.Next, rows[:w])
		case c.Torn:
		case c.inOne == 0 && c.begun && seq != first:
			return fmt.Errorf("record %d is of the batch at %d, whose beginning is not there", seq, first)
		case c.inOne != 0 && end != c.inOne:
			return fmt.Errorf("record %d is of the batch [%d, %d), inside one that ends at %d", seq, first, end, c.inOne)
		}
		c.begun, c.inOne, c.Next = true, end, seq+1
		if c.inOne == c.Next {
			c.inOne = 0
		}
	}
	return nil
}

// Skip goes on at seq, behind records that are gone.
func (c *Follower) Skip(seq uint64) { *c = Follower{Next: seq, Torn: c.Torn} }

// Whole is nil if the last batch has ended.
func (c *Follower) Whole() error {
	if c.inOne != 0 && !c.Torn {
		return fmt.Errorf("the batch that ends at %d is cut at %d", c.inOne, c.Next)
	}
	return nil
}

// Read reads all of a snapshot of Batches and checks every record; batches may
// be torn if torn is true. gone is told of each range that drops.json names.
func Read(n *stream.Snapshot, torn bool, gone func(*stream.DroppedError)) error {
	c := Follower{Next: uint64(n.First()), Torn: torn}
	var rows []byte
	for b, err := range n.Range(n.First(), n.End()) {
		if d, ok := errors.AsType[*stream.DroppedError](err); ok {
			if gone != nil {
				gone(d)
			}
			c.Skip(uint64(d.To))
			continue
		}
		if err != nil {
			return err
		}
		if rows, err = b.Rows(rows[:0]); err != nil {
			return err
		}
		if err := c.Add(rows); err != nil {
			return err
		}
	}
	if c.Next < uint64(n.End()) {
		return fmt.Errorf("reading ends at %d, the snapshot at %d", c.Next, n.End())
	}
	return c.Whole()
}
