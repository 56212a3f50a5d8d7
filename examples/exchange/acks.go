package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/ledger/shapes"
)

// ackSize is the size of one acknowledgement in the log: the order's record.
const ackSize = 40

// An ackLog is what the exchange's clients know: the record of each order that
// was acknowledged to them, in sequence. It is a plain file apart from the
// journals, so that it can testify against them after a kill. It is never synced:
// after a power loss it proves less, and nothing that wasn't so.
type ackLog struct {
	file   *os.File
	before uint64        // acknowledgements that earlier runs wrote
	n      uint64        // acknowledgements in the file
	old    *bufio.Reader // those of earlier runs, for confirm
	buf    []byte
}

// openAcks opens the log, or begins it. An acknowledgement that a kill cut short
// was not given, and is cut off.
func openAcks(path string) (*ackLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size%ackSize != 0 {
		size -= size % ackSize
		if err = f.Truncate(size); err == nil {
			_, err = f.Seek(size, io.SeekStart)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	n := uint64(size / ackSize)
	return &ackLog{file: f, before: n, n: n, old: bufio.NewReader(io.NewSectionReader(f, 0, size))}, nil
}

// confirm compares an order of the journal with what was acknowledged as that
// order. It must be called for each order in turn, from the first on. It is
// false if earlier runs didn't acknowledge it.
func (a *ackLog) confirm(o *shapes.Order) (bool, error) {
	if o.Seq >= a.before {
		return false, nil
	}
	var ack [ackSize]byte
	if _, err := io.ReadFull(a.old, ack[:]); err != nil {
		return false, fmt.Errorf("%s: %w", a.file.Name(), err)
	}
	a.buf = appendOrder(a.buf[:0], o)
	if !bytes.Equal(ack[:], a.buf) {
		return false, fmt.Errorf("%w: order %d was acknowledged as %x, and the journal has %x", errDamage, o.Seq, ack, a.buf)
	}
	return true, nil
}

// append acknowledges orders, which follow those in the log.
func (a *ackLog) append(orders []shapes.Order) error {
	a.buf = a.buf[:0]
	for i := range orders {
		a.buf = appendOrder(a.buf, &orders[i])
	}
	if _, err := a.file.Write(a.buf); err != nil {
		return err
	}
	a.n += uint64(len(orders))
	return nil
}

// close may be called again.
func (a *ackLog) close() error {
	if err := a.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// appendOrder appends an order's record, as the journal has it.
func appendOrder(b []byte, o *shapes.Order) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, o.Seq)
	b = le.AppendUint64(b, uint64(o.TS))
	b = le.AppendUint32(b, uint32(o.Px))
	b = le.AppendUint32(b, uint32(o.Qty))
	b = le.AppendUint32(b, o.Account)
	b = le.AppendUint32(b, o.Client)
	b = le.AppendUint32(b, o.Order)
	b = le.AppendUint16(b, o.Sym)
	return append(b, byte(o.Kind), byte(o.Side))
}

// appendFill appends a fill's record, as the journal has it.
func appendFill(b []byte, f *shapes.Fill) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, f.Seq)
	b = le.AppendUint64(b, uint64(f.TS))
	b = le.AppendUint32(b, uint32(f.Px))
	b = le.AppendUint32(b, uint32(f.Qty))
	b = le.AppendUint32(b, f.Taker)
	b = le.AppendUint32(b, f.Maker)
	b = le.AppendUint16(b, f.Sym)
	return append(b, byte(f.Side), f.Flags, 0, 0, 0, 0)
}
