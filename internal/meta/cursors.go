package meta

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"example.com/ledger/internal/disk"
)

// The cursors page. Little-endian.
//
//	offset size field       constraint
//	     0    4 magic       "OXLC"
//	     4    2 version     1
//	     6    2 reserved    zero
//	     8    8 generation  of the writer's session: grows at each open
//	    16   16 id          of the stream
//	    32    8 durable     stored after the sync, before the acknowledgement
//	    40    4 crc         CRC-32C of bytes [0,40)
//	    44   20 reserved    zero
//	    64    8 published   one aligned store, outside the checksum: a hint to
//	                        other processes, which check frames anyway
const (
	CursorSize  = 4096
	PublishedAt = 64
	cursorSum   = 40
)

var (
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
	cursorMagic = [4]byte{'O', 'X', 'L', 'C'}
)

// Cursors is the checksummed part of the page.
type Cursors struct {
	Generation uint64
	ID         [16]byte
	Durable    uint64
}

// Put writes the checksummed part into the page b.
func (c Cursors) Put(b []byte) {
	_ = b[cursorSum+3]
	copy(b, cursorMagic[:])
	binary.LittleEndian.PutUint16(b[4:], version)
	binary.LittleEndian.PutUint16(b[6:], 0)
	binary.LittleEndian.PutUint64(b[8:], c.Generation)
	copy(b[16:32], c.ID[:])
	binary.LittleEndian.PutUint64(b[32:], c.Durable)
	binary.LittleEndian.PutUint32(b[cursorSum:], crc32.Checksum(b[:cursorSum], castagnoli))
}

// DecodeCursors reads the checksummed part of the page. ok is false if its
// checksum does not hold; the error is disk.ErrVersion for a later version.
func DecodeCursors(b []byte) (c Cursors, ok bool, err error) {
	if len(b) < cursorSum+4 || [4]byte(b[:4]) != cursorMagic ||
		crc32.Checksum(b[:cursorSum], castagnoli) != binary.LittleEndian.Uint32(b[cursorSum:]) {
		return Cursors{}, false, nil
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != version {
		return Cursors{}, false, fmt.Errorf("%w: cursors of version %d", disk.ErrVersion, v)
	}
	return Cursors{
		Generation: binary.LittleEndian.Uint64(b[8:]),
		ID:         [16]byte(b[16:32]),
		Durable:    binary.LittleEndian.Uint64(b[32:]),
	}, true, nil
}

// Published reads the published number of the page b, which has all its bytes.
func Published(b []byte) uint64 { return binary.LittleEndian.Uint64(b[PublishedAt:]) }
