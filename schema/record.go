package schema

import (
	"encoding/binary"
	"strconv"
	"unsafe"
)

var le = binary.LittleEndian

// Seq returns the sequence number of a record.
func Seq(rec []byte) uint64 { return le.Uint64(rec) }

// PutSeq sets the sequence number of a record.
func PutSeq(rec []byte, seq uint64) { le.PutUint64(rec, seq) }

// Time returns the time of a record, in the schema's unit since 1970-01-01 UTC.
func Time(rec []byte) int64 { return int64(le.Uint64(rec[8:])) }

// PutTime sets the time of a record.
func PutTime(rec []byte, ts int64) { le.PutUint64(rec[8:], uint64(ts)) }

// Int returns a field of a record, sign-extended to 64 bits if its kind is
// signed and zero-extended if not. For a U64 above the largest int64 that is a
// negative number, its bit pattern: use Uint. It panics if there is no such
// field or the record is too short.
func (s *Schema) Int(rec []byte, field int) int64 {
	sl := &s.slots[field]
	v := le.Uint64(rec[sl.word:]) << (sl.left & 63) >> (sl.right & 63)
	return int64((v ^ sl.sign) - sl.sign)
}

// Uint returns the same 64 bits as Int, unsigned. It panics as Int does.
func (s *Schema) Uint(rec []byte, field int) uint64 {
	sl := &s.slots[field]
	v := le.Uint64(rec[sl.word:]) << (sl.left & 63) >> (sl.right & 63)
	return (v ^ sl.sign) - sl.sign
}

// PutInt sets a field of a record. A value outside the range of the field's kind
// changes nothing and is a *RangeError, which is ErrRange. It panics as Int does.
func (s *Schema) PutInt(rec []byte, field int, v int64) error {
	sl := &s.slots[field]
	if v < sl.min || v >= 0 && uint64(v) > sl.max {
		return s.rangeError(field, strconv.FormatInt(v, 10))
	}
	put(rec, sl, uint64(v))
	return nil
}

// PutUint is PutInt for unsigned values.
func (s *Schema) PutUint(rec []byte, field int, v uint64) error {
	sl := &s.slots[field]
	if v > sl.max {
		return s.rangeError(field, strconv.FormatUint(v, 10))
	}
	put(rec, sl, v)
	return nil
}

// PutBits puts back what Int or ParseDecimal returned: it is PutInt, but for U64,
// of which it takes the bit pattern.
func (s *Schema) PutBits(rec []byte, field int, bits int64) error {
	if s.fields[field].Kind == U64 {
		return s.PutUint(rec, field, uint64(bits))
	}
	return s.PutInt(rec, field, bits)
}

func put(rec []byte, sl *slot, v uint64) {
	p := rec[sl.offset:]
	switch sl.right {
	case 56:
		p[0] = byte(v)
	case 48:
		le.PutUint16(p, uint16(v))
	case 32:
		le.PutUint32(p, uint32(v))
	default:
		le.PutUint64(p, v)
	}
}

func (s *Schema) rangeError(field int, value string) error {
	f := s.fields[field]
	return &RangeError{Field: f.Name, Kind: f.Kind, Value: value}
}

// Padded tells whether records have padding, between fields or at the end.
func (s *Schema) Padded() bool { return len(s.gaps) > 0 }

// ClearPadding zeroes the padding of whole records that follow each other. A
// part of a record at the end is left as it is. Without padding it does nothing.
func (s *Schema) ClearPadding(recs []byte) {
	base := unsafe.Pointer(unsafe.SliceData(recs))
	for _, g := range s.gaps {
		// Bounds checks would treble the time of a pass over a large batch. A gap
		// lies inside its record, so up to last it lies inside recs. Nothing is
		// loaded: a load of what the caller stored in pieces would stall.
		width, last := s.width, len(recs)-s.width+g.offset
		switch g.size {
		case 1:
			for i := g.offset; i <= last; i += width {
				*(*byte)(unsafe.Add(base, i)) = 0
			}
		case 2:
			for i := g.offset; i <= last; i += width {
				*(*[2]byte)(unsafe.Add(base, i)) = [2]byte{}
			}
		case 4:
			for i := g.offset; i <= last; i += width {
				*(*[4]byte)(unsafe.Add(base, i)) = [4]byte{}
			}
		}
	}
}
