package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"example.com/ledger/schema"
)

// Header of a .seg file. Little-endian; CRC is CRC-32/IEEE.
//
//	offset size field      constraint
//	     0    4 magic      "OXLS"
//	     4    2 version    1 rows, 2 columns; a larger one is a newer release's
//	     6    2 width      of the row form, bytes: a multiple of 8, 16 to 144
//	     8    8 first_seq  the number of the first record
//	    16    8 count      records, at least 1; first_seq + count fits 64 bits
//	    24    8 min_ts     signed; the smallest ts seen
//	    32    8 max_ts     signed; the largest ts seen, min_ts ≤ max_ts
//	    40    4 crc        version 1: of all record bytes; version 2: of the footer
//	    44    4 flags      bit 0 ts never decreases, bit 1 durable when named
//	    48    8 sealed_at  signed; milliseconds since 1970-01-01 UTC
//	    56    4 tag        CRC of the stream's id and canonical schema
//	    60    4 header_crc of bytes [0,60)
//
// A legacy file, of the original engine, is version 1 with bytes [44,48) and
// [56,64) zero. There count may be 0 (its writer died; the records are counted
// from the file's size): then min_ts and max_ts say nothing. crc may be 0: none.
const (
	offMagic     = 0
	offVersion   = 4
	offWidth     = 6
	offFirst     = 8
	offCount     = 16
	offMinTime   = 24
	offMaxTime   = 32
	offCRC       = 40
	offFlags     = 44
	offSealedAt  = 48
	offTag       = 56
	offHeaderCRC = 60

	// HeaderSize is the size of the header of every version, bytes.
	HeaderSize = 64

	magic     = "OXLS"
	widthMin  = 16 // seq and ts
	alignment = 64 // columns and the footer start at multiples of it
)

// The table above, checked by the compiler: each line fails to build if false.
const (
	_ uint = uint(len(magic)) - offVersion // magic ends where version begins
	_ uint = offVersion - uint(len(magic))
	_ uint = HeaderSize - (offHeaderCRC + 4) // the last field ends inside
	_ uint = (offHeaderCRC + 4) - HeaderSize // and leaves no gap
	_ uint = -(HeaderSize % alignment)       // the body starts aligned
	_ uint = -(schema.WidthMax % 8)
)

// Flags of a header. All other bits are zero.
const (
	// FlagSorted: ts never decreases from one record to the next.
	FlagSorted uint32 = 1
	// FlagDurable: all records below the file's end were on disk when the file
	// got its name.
	FlagDurable uint32 = 2

	flagsKnown = FlagSorted | FlagDurable
)

// A Layout is how the records stand in a file.
type Layout uint8

const (
	// Columns stores each field's values together: format version 2. It is the
	// zero value.
	Columns Layout = 0
	// Rows stores whole records one after the other: format version 1.
	Rows Layout = 1
)

// String returns "columns" or "rows".
func (l Layout) String() string {
	switch l {
	case Columns:
		return "columns"
	case Rows:
		return "rows"
	}
	return fmt.Sprintf("layout(%d)", uint8(l))
}

// ParseLayout reads what String writes.
func ParseLayout(s string) (Layout, error) {
	switch s {
	case "columns":
		return Columns, nil
	case "rows":
		return Rows, nil
	}
	return 0, fmt.Errorf("segment: layout %.40q is neither columns nor rows", s)
}

// version returns the format version that stores the layout.
func (l Layout) version() uint16 {
	if l == Rows {
		return 1
	}
	return 2
}

// A Header is the first 64 bytes of a file.
type Header struct {
	Version  uint16 // 1 or 2
	Width    uint16 // of a record in row form, bytes
	First    uint64 // sequence number of the first record
	Count    uint64 // records; 0 only in a legacy file whose writer died
	MinTime  int64  // smallest ts, in the schema's unit
	MaxTime  int64  // largest ts
	CRC      uint32 // of the records (version 1) or of the footer (version 2)
	Flags    uint32 // FlagSorted, FlagDurable
	SealedAt int64  // milliseconds since 1970-01-01 UTC
	Tag      uint32 // names stream and schema; 0 in a legacy file
	Legacy   bool   // written by the original engine: no flags, tag or header CRC
}

// Layout returns how the records stand.
func (h Header) Layout() Layout {
	if h.Version == 1 {
		return Rows
	}
	return Columns
}

// End returns the sequence number after the last record.
func (h Header) End() uint64 { return h.First + h.Count }

// Sorted tells whether ts is known never to decrease.
func (h Header) Sorted() bool { return h.Flags&FlagSorted != 0 }

// Append appends the 64 bytes of the header, with its CRC. Those of a legacy
// header have none: they come out as the original engine wrote them.
func (h Header) Append(b []byte) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = append(b, magic...)
	b = le.AppendUint16(b, h.Version)
	b = le.AppendUint16(b, h.Width)
	b = le.AppendUint64(b, h.First)
	b = le.AppendUint64(b, h.Count)
	b = le.AppendUint64(b, uint64(h.MinTime))
	b = le.AppendUint64(b, uint64(h.MaxTime))
	b = le.AppendUint32(b, h.CRC)
	if h.Legacy {
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, uint64(h.SealedAt))
		return le.AppendUint64(b, 0)
	}
	b = le.AppendUint32(b, h.Flags)
	b = le.AppendUint64(b, uint64(h.SealedAt))
	b = le.AppendUint32(b, h.Tag)
	return le.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// DecodeHeader reads the first 64 bytes of b, and reads no file. An error is a
// *CorruptError without a path, or ErrVersion where a newer release wrote a
// header that is whole. If the version is newer and the header's CRC doesn't
// hold, it is both: ask for ErrVersion first, and leave the file alone.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, short(int64(len(b)), HeaderSize)
	}
	b = b[:HeaderSize]
	if string(b[:4]) != magic {
		return Header{}, corrupt(offMagic, "magic", "%q, want %q", b[:4], magic)
	}
	le := binary.LittleEndian
	h := Header{
		Version:  le.Uint16(b[offVersion:]),
		Width:    le.Uint16(b[offWidth:]),
		First:    le.Uint64(b[offFirst:]),
		Count:    le.Uint64(b[offCount:]),
		MinTime:  int64(le.Uint64(b[offMinTime:])),
		MaxTime:  int64(le.Uint64(b[offMaxTime:])),
		CRC:      le.Uint32(b[offCRC:]),
		Flags:    le.Uint32(b[offFlags:]),
		SealedAt: int64(le.Uint64(b[offSealedAt:])),
		Tag:      le.Uint32(b[offTag:]),
	}
	sum := le.Uint32(b[offHeaderCRC:])
	h.Legacy = h.Version == 1 && h.Flags == 0 && h.Tag == 0 && sum == 0
	if !h.Legacy {
		want := crc32.ChecksumIEEE(b[:offHeaderCRC])
		if err := checkVersion(h, sum == want); err != nil {
			return Header{}, err
		}
		if sum != want {
			return Header{}, corrupt(offHeaderCRC, "header_crc", "%08x, want %08x", sum, want)
		}
	}
	if err := h.check(); err != nil {
		return Header{}, err
	}
	return h, nil
}

// checkVersion tells a newer release's file from damage.
func checkVersion(h Header, whole bool) error {
	switch {
	case h.Version > 2 && whole:
		return fmt.Errorf("segment: version %d: %w", h.Version, ErrVersion)
	case h.Version > 2:
		e := corrupt(offVersion, "version", "%d, and header_crc is not what it was", h.Version)
		e.Err = ErrVersion
		return e
	case whole && h.Flags&^flagsKnown != 0:
		return fmt.Errorf("segment: flags %#x: %w", h.Flags, ErrVersion)
	}
	return nil
}

// check tells whether the fields can be true together.
func (h Header) check() *CorruptError {
	switch {
	case h.Version == 0:
		return corrupt(offVersion, "version", "0")
	case h.Width < widthMin || h.Width > schema.WidthMax || h.Width%8 != 0:
		return corrupt(offWidth, "width", "%d is not a multiple of 8 from %d to %d", h.Width, widthMin, schema.WidthMax)
	case h.Count == 0 && !h.Legacy:
		return corrupt(offCount, "count", "0")
	case h.First+h.Count < h.First:
		return corrupt(offCount, "count", "%d records from %d pass the end of the numbers", h.Count, h.First)
	case h.MinTime > h.MaxTime && h.Count > 0:
		return corrupt(offMinTime, "min_ts", "%d, above max_ts %d", h.MinTime, h.MaxTime)
	}
	return nil
}

const nameDigits = 20

// Name returns the file name of the segment whose first record is first: 20
// digits and ".seg".
func Name(first uint64) string { return fmt.Sprintf("%020d.seg", first) }

// ParseName reads what Name writes, and nothing else.
func ParseName(name string) (first uint64, ok bool) {
	if len(name) != nameDigits+len(".seg") || name[nameDigits:] != ".seg" {
		return 0, false
	}
	for i := range nameDigits {
		d := uint64(name[i]) - '0'
		if d > 9 || first > (1<<64-1-d)/10 {
			return 0, false
		}
		first = first*10 + d
	}
	return first, true
}
