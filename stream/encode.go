package stream

import (
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// An encoder makes the file of a segment in memory while that of the segment
// before is written: the first takes a processor, the second mostly the system.
// It is recovery's, and then the sealer's.
type encoder struct {
	writers [2]segment.Writer // an image is valid until its writer makes another
	turn    int               // which of them is next
	ahead   *encoding         // begun early, or nil
}

// An encoding is a segment's file but for what is not known when it is made: when
// it is sealed, and whether its records are durable then.
type encoding struct {
	first  uint64
	image  []byte
	header segment.Header
	err    error
	done   chan struct{} // closed when all that is there
}

// start makes the file of rows in the background.
func (c *encoder) start(m segment.Meta, l segment.Layout, rows []byte) *encoding {
	e, w := &encoding{first: schema.Seq(rows), done: make(chan struct{})}, &c.writers[c.turn]
	c.turn = 1 - c.turn
	go func() {
		defer close(e.done)
		e.image, e.header, e.err = w.Encode(m, l, rows, 0, 0)
	}()
	return e
}

// get returns the file of rows, and begins that of next, the segment behind it,
// unless that is nil.
func (c *encoder) get(m segment.Meta, l segment.Layout, rows, next []byte) *encoding {
	e := c.ahead
	if e == nil || e.first != schema.Seq(rows) {
		c.wait()
		e = c.start(m, l, rows)
	}
	<-e.done
	if c.ahead = nil; next != nil {
		c.ahead = c.start(m, l, next)
	}
	return e
}

// wait waits for what was begun early.
func (c *encoder) wait() {
	if c.ahead != nil {
		<-c.ahead.done
	}
}

// stamp completes the file's header.
func (e *encoding) stamp(sealedAt int64, flags uint32) {
	e.header.SealedAt, e.header.Flags = sealedAt, e.header.Flags|flags
	e.header.Append(e.image[:0])
}
