package schema

import (
	"encoding/binary"
	"strconv"
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

// PutInt sets a field of a record. A value outside the field's range changes
// nothing and is a *RangeError, which is ErrRange. It panics as Int does.
func (s *Schema) PutInt(rec []byte, field int, v int64) error {
	sl := &s.slots[field]
	if !fits(sl, v) {
		return s.rangeError(field, strconv.FormatInt(v, 10))
	}
	put(rec, sl, uint64(v))
	return nil
}

// PutUint sets a field of a record, as PutInt does, to an unsigned value.
func (s *Schema) PutUint(rec []byte, field int, v uint64) error {
	sl := &s.slots[field]
	if v > uint64(1)<<63-1 && sl.kind != U64 || sl.kind != U64 && !fits(sl, int64(v)) {
		return s.rangeError(field, strconv.FormatUint(v, 10))
	}
	put(rec, sl, v)
	return nil
}

// PutBits sets a field of a record to what Int returned for one of the same
// kind, or ParseDecimal did: it is PutInt, and for U64 takes the bit pattern.
func (s *Schema) PutBits(rec []byte, field int, bits int64) error {
	if s.slots[field].kind == U64 {
		return s.PutUint(rec, field, uint64(bits))
	}
	return s.PutInt(rec, field, bits)
}

// fits tells whether v is what reading the field would give back.
func fits(sl *slot, v int64) bool {
	if sl.kind == U64 {
		return v >= 0
	}
	x := uint64(v) << (sl.right & 63) >> (sl.right & 63)
	return int64((x^sl.sign)-sl.sign) == v
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
func (s *Schema) Padded() bool { return len(s.masks) > 0 }

// ClearPadding zeroes the padding of whole records that follow each other. A
// part of a record at the end is left as it is. Without padding it does nothing.
func (s *Schema) ClearPadding(recs []byte) {
	for _, m := range s.masks {
		for r := recs; len(r) >= s.width; r = r[s.width:] {
			w := r[m.offset : m.offset+8]
			le.PutUint64(w, le.Uint64(w)&m.keep)
		}
	}
}
