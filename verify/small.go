package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// crcKey stands before the eight digits of a small file's checksum.
const crcKey = `"crc": "`

// describeSmall returns the ranges of stream.json, drops.json or the cursors page.
func describeSmall(kind string, b []byte) []Range {
	if kind == FileCursors {
		return describeCursors(b)
	}
	var err error
	if kind == FileStream {
		_, err = meta.DecodeStream("", b)
	} else {
		_, err = meta.DecodeDrops("", b)
	}
	return describeObject("object", b, err)
}

// describeObject returns the ranges of a file that is one JSON object with its
// checksum, and with which err is wrong.
func describeObject(meaning string, b []byte, err error) []Range {
	check, k, detail := OK, "", ""
	if err != nil {
		check, k, detail = Bad, kindOfError(err, KindMetadata), detailOf(err)
	}
	i := bytes.LastIndex(b, []byte(crcKey))
	at := int64(i + len(crcKey))
	if i < 0 || at+8 > int64(len(b)) {
		return []Range{{Length: int64(len(b)), Meaning: meaning, Class: Meta, Check: Bad, kind: KindMetadata, Detail: detail}}
	}
	return []Range{
		{Offset: 0, Length: at, Meaning: meaning, Class: Meta, Check: check, kind: k, Detail: detail},
		{Offset: at, Length: 8, Meaning: "crc", Class: Meta, Check: check, kind: k, Detail: detail, Value: string(b[at : at+8])},
		{Offset: at + 8, Length: int64(len(b)) - at - 8, Meaning: "end", Class: Meta, Check: check, kind: k, Detail: detail},
	}
}

var cursorFields = []fieldAt{
	{0, 4, "magic"}, {4, 2, "version"}, {6, 2, "zeros"}, {8, 8, "generation"}, {16, 16, "id"},
	{32, 8, "durable"}, {40, 4, "crc"}, {44, 20, "space"}, {64, 8, "published"}, {72, meta.CursorSize - 72, "space"},
}

// cursorHead is how each cursors page begins.
const cursorHead = "OXLC\x01\x00\x00\x00"

// tornFromZeros tells whether bytes are what a power cut may leave of want where
// it was written over zeros: some of it. A single byte that isn't there is not
// believed to be a tear.
func tornFromZeros(b []byte, want string) bool {
	for i, c := range b {
		if c != want[i] && c != 0 {
			return false
		}
	}
	return differing(b, []byte(want)) > 1
}

// describeCursors returns the ranges of the cursors page. It is a hint, never
// synced, and a writer may have died between two of its stores: only what never
// changes in it can be wrong. A page of zeros is one that was not written yet.
func describeCursors(b []byte) []Range {
	if len(bytes.Trim(b, "\x00")) == 0 {
		return []Range{{Length: int64(len(b)), Meaning: "unused", Class: Free, Check: None}}[:min(1, len(b))]
	}
	if len(b) != meta.CursorSize {
		return []Range{
			{Length: int64(len(b)), Meaning: "part of a page", Class: Meta, Check: None},
			{Offset: int64(len(b)), Meaning: "end of file", Class: Meta, Check: Bad, kind: KindCursors,
				Detail: fmt.Sprintf("%d bytes, want %d", len(b), meta.CursorSize)},
		}
	}
	_, whole, verr := meta.DecodeCursors(b)
	torn := tornFromZeros(b[:len(cursorHead)], cursorHead)
	var out []Range
	for _, f := range cursorFields {
		v := b[f.off : f.off+f.len]
		r := Range{Offset: f.off, Length: f.len, Meaning: f.name, Class: Free, Check: None}
		switch f.name {
		case "magic":
			r.prove(string(v) == "OXLC", "not OXLC")
			r.Value = strconv.Quote(string(v))
		case "version":
			r.prove(binary.LittleEndian.Uint16(v) == 1, "not 1")
			if verr != nil {
				r.kind, r.Detail = KindVersion, detailOf(verr)
			}
			r.Value = strconv.FormatUint(unsigned(v), 10)
		case "zeros":
			r.prove(v[0] == 0 && v[1] == 0, "not zero")
		case "id":
			r.Class, r.Value = Meta, fmt.Sprintf("%x", v)
			if whole {
				r.Check = OK
			}
		case "crc":
			r.Value = fmt.Sprintf("%08x", unsigned(v))
		case "generation", "durable", "published":
			r.Value = strconv.FormatUint(unsigned(v), 10)
		}
		if torn && f.off < int64(len(cursorHead)) {
			r.Class, r.Check, r.kind, r.Detail = Free, None, "", ""
		}
		out = append(out, r)
	}
	return out
}

// prove makes the range one that is checked.
func (r *Range) prove(ok bool, detail string) {
	r.Class, r.Check = Meta, OK
	if !ok {
		r.Check, r.kind, r.Detail = Bad, KindCursors, detail
	}
}

// kindOfError is the kind of the problem that err is: KindVersion, or kind.
func kindOfError(err error, kind string) string {
	if errors.Is(err, disk.ErrVersion) {
		return KindVersion
	}
	return kind
}

// detailOf is what an error says without the file that it names.
func detailOf(err error) string {
	if e, ok := errors.AsType[*disk.CorruptError](err); ok {
		switch {
		case e.Detail != "" && e.Err != nil:
			return e.Detail + ": " + e.Err.Error()
		case e.Detail != "":
			return e.Detail
		case e.Err != nil:
			return e.Err.Error()
		}
	}
	return err.Error()
}
