// Package journal reads and writes the journals that make the active segment
// survive: their headers and frames, the replay of one journal, and the one
// recovery procedure over the whole ring (docs/format.md, "Recovery").
//
// Decoding works on bytes and opens nothing. A Journal is written by one
// goroutine at a time; its syncs may overlap, each on a file description of
// its own.
package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"example.com/ledger/internal/disk"
)

// Journal file, version 1. Little-endian. Offsets count from the file's start.
//
//	offset size field        constraint
//	     0    4 magic        "OXLJ"
//	     4    2 version      1
//	     6    2 width        of a record, bytes
//	     8    8 generation   grows by one at each start of a journal of the ring
//	    16    8 first        sequence number of the segment's first record
//	    24    8 salt         random at each start
//	    32    8 base         durable_base: all below was on disk before this header
//	    40   16 id           of the stream
//	    56    4 tag          of the stream's id and schema
//	    60    1 mode         durability it is written under
//	    61    3 reserved     zero
//	    64    4 crc          CRC-32C of bytes [0,64)
//
// The header stands at 0 and again at 2048; frames begin at 4096. A frame is
//
//	 0    4 crc          CRC-32C of the salt, then of the frame's bytes from 4
//	 4    4 word         bits 0–27 count, 28–30 kind, 31 the batch goes on
//	 8    8 durable      all records below were on disk when it was written
//	16      payload      kind 0: count records; kind 3: count 8-byte words
const (
	HeaderSize = 68
	HeaderCopy = 2048 // offset of the header's second copy
	FramesAt   = 4096 // offset of the first frame
	FrameSize  = 16   // of a frame without its payload; all of a mark
	Ring       = 4    // journals a stream has at most
	version    = 1

	offWidth, offGen, offFirst, offSalt = 6, 8, 16, 24
	offBase, offID, offTag, offMode     = 32, 40, 56, 60
	offCRC                              = 64
)

// The table above, checked by the compiler: each line fails to build if false.
const (
	_ uint = HeaderSize - (offCRC + 4)
	_ uint = (offCRC + 4) - HeaderSize
	_ uint = HeaderCopy - HeaderSize
	_ uint = FramesAt - (HeaderCopy + HeaderSize)
	_ uint = -(FramesAt % 8)
)

// Kinds of frames. They are on disk: never renumber one.
const (
	KindRecords   = 0
	KindMark      = 1 // no payload: carries durable
	KindClosing   = 2 // a mark written by Close
	KindExtension = 3 // belongs to the frame behind it
)

const (
	countMask = 1<<28 - 1
	moreBit   = 1 << 31
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	magic      = [4]byte{'O', 'X', 'L', 'J'}
)

// A Header is the beginning of a journal's life.
type Header struct {
	Width      uint16
	Generation uint64
	First      uint64
	Salt       uint64
	Base       uint64
	ID         [16]byte
	Tag        uint32
	Mode       uint8
}

// Size is the length of a journal file for capacity records of width bytes:
// a frame for each record, and room for a mark behind the last.
func Size(capacity, width int) int64 {
	return FramesAt + int64(capacity)*int64(width+FrameSize) + FrameSize
}

// Capacity is the inverse of Size: how many records of width bytes a file of
// size bytes was made for. ok is false if no capacity gives that size.
func Capacity(size int64, width int) (capacity int, ok bool) {
	body := size - FramesAt - FrameSize
	each := int64(width + FrameSize)
	if body < each || body%each != 0 || body/each > countMask {
		return 0, false
	}
	return int(body / each), true
}

// Append appends the header's 68 bytes to b.
func (h Header) Append(b []byte) []byte {
	at := len(b)
	b = append(b, magic[:]...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = binary.LittleEndian.AppendUint16(b, h.Width)
	b = binary.LittleEndian.AppendUint64(b, h.Generation)
	b = binary.LittleEndian.AppendUint64(b, h.First)
	b = binary.LittleEndian.AppendUint64(b, h.Salt)
	b = binary.LittleEndian.AppendUint64(b, h.Base)
	b = append(b, h.ID[:]...)
	b = binary.LittleEndian.AppendUint32(b, h.Tag)
	b = append(b, h.Mode, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
}

// DecodeHeader reads one copy of a header. ok is false if its checksum does
// not hold. The error is disk.ErrVersion if it is whole and of a later version.
func DecodeHeader(b []byte) (h Header, ok bool, err error) {
	if len(b) < HeaderSize || [4]byte(b[:4]) != magic ||
		crc32.Checksum(b[:offCRC], castagnoli) != binary.LittleEndian.Uint32(b[offCRC:]) {
		return Header{}, false, nil
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != version {
		return Header{}, false, fmt.Errorf("%w: journal version %d", disk.ErrVersion, v)
	}
	return Header{
		Width:      binary.LittleEndian.Uint16(b[offWidth:]),
		Generation: binary.LittleEndian.Uint64(b[offGen:]),
		First:      binary.LittleEndian.Uint64(b[offFirst:]),
		Salt:       binary.LittleEndian.Uint64(b[offSalt:]),
		Base:       binary.LittleEndian.Uint64(b[offBase:]),
		ID:         [16]byte(b[offID:offTag]),
		Tag:        binary.LittleEndian.Uint32(b[offTag:]),
		Mode:       b[offMode],
	}, true, nil
}

// DecodeHeaders reads both copies at the beginning of a journal and returns the
// valid one of the newer generation; ok is false if neither is valid.
func DecodeHeaders(b []byte) (h Header, ok bool, err error) {
	if len(b) < FramesAt {
		return Header{}, false, nil
	}
	one, ok1, err1 := DecodeHeader(b)
	two, ok2, err2 := DecodeHeader(b[HeaderCopy:])
	switch {
	case err1 != nil:
		return Header{}, false, err1
	case err2 != nil:
		return Header{}, false, err2
	case ok2 && (!ok1 || two.Generation > one.Generation):
		return two, true, nil
	}
	return one, ok1, nil
}

// seed is the checksum of a salt, from which each frame's checksum goes on. It
// goes byte by byte, as crc32.Update would allocate the bytes.
func seed(salt uint64) uint32 {
	sum := ^uint32(0)
	for range 8 {
		sum = castagnoli[byte(sum)^byte(salt)] ^ sum>>8
		salt >>= 8
	}
	return ^sum
}

// putFrame fills in the head of the frame b, whose payload is in place.
func putFrame(b []byte, seed uint32, kind uint32, count int, more bool, durable uint64) {
	word := uint32(count) | kind<<28
	if more {
		word |= moreBit
	}
	binary.LittleEndian.PutUint32(b[4:], word)
	binary.LittleEndian.PutUint64(b[8:], durable)
	binary.LittleEndian.PutUint32(b, crc32.Update(seed, castagnoli, b[4:]))
}
