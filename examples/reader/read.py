#!/usr/bin/env python3
"""Print a stream's records as CSV: seq, ts, then the fields, as stored integers.

    read.py DIR > records.csv

A second reader of the format, written from docs/format.md alone, with nothing but
Python's standard library. It takes no lock and changes nothing. It stops with an
error where records are gone and drops.json doesn't say so. It is no verify: it
doesn't look for acknowledged frames behind damage in the newest journal, and it
reads a stream that a writer is busy with once, as it finds it.
"""

import json
import os
import re
import struct
import sys
import zlib

KINDS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
CODES = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "q", 8: "Q"}
UNITS = {"ns": 1, "us": 2, "ms": 3}
CASTAGNOLI = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CASTAGNOLI.append(n)


class Damaged(Exception):
    pass


def check(holds, *what):
    if not holds:
        raise Damaged(": ".join(map(str, what)))


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = CASTAGNOLI[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read(path):
    with open(path, "rb") as file:
        return file.read()


def read_json(path):
    """A JSON file whose last member is the CRC of all bytes but its own digits."""
    data = read(path)
    at = data.rfind(b'"crc": "') + 8
    digits = data[at : at + 8]
    check(at >= 8 and re.fullmatch(rb"[0-9a-f]{8}", digits), path, "no checksum")
    check(int(digits, 16) == zlib.crc32(data[at + 8 :], zlib.crc32(data[:at])), path, "bad checksum")
    value = json.loads(data)
    check(value["version"] == 1, path, "of a later release")
    return value


class Stream:
    def __init__(self, dir):
        self.dir = dir
        about = read_json(os.path.join(dir, "stream.json"))
        self.id = bytes.fromhex(about["id"])
        self.capacity = about["capacity"]
        self.commit = about["durability"] == "commit"
        fields = about["schema"]["fields"] or []
        self.names = [f["name"] for f in fields]
        self.codes = "q" + "".join(KINDS[f["kind"]] for f in fields)
        canonical = struct.pack("BB", UNITS[about["schema"]["unit"]], len(fields))
        for f, code in zip(fields, self.codes[1:]):
            kind = next(k for k, c in CODES.items() if c == code)
            canonical += struct.pack("12sBB", f["name"].encode(), kind, f.get("scale", 0))
        self.tag = zlib.crc32(self.id + canonical)
        layout, end = "<Q", 8  # a record, with its padding
        for code in self.codes:
            size = struct.calcsize("<" + code)
            pad = -end % size
            layout, end = layout + "x" * pad + code, end + pad + size
        self.record = struct.Struct(layout + "x" * (-end % 8))

    def drops(self):
        path = os.path.join(self.dir, "drops.json")
        if not os.path.exists(path):
            return []
        about = read_json(path)
        check(about["id"] == self.id.hex(), path, "another stream's")
        return [(int(r["from"]), int(r["to"]), r["reason"]) for r in about["ranges"]]

    # Sealed segments.

    def segment(self, name):
        """The numbers that a sealed file holds, whether it is known to be on disk, and how to read its records."""
        path = os.path.join(self.dir, name)
        with open(path, "rb") as file:
            head = file.read(64)
        check(len(head) == 64 and head[:4] == b"OXLS", path, "no header")
        version, width, first, count, least, most, crc, flags, tag, header_crc = struct.unpack("<4xHHQQqqII8xII", head)
        check(header_crc == zlib.crc32(head[:60]), path, "bad header checksum")
        check(version in (1, 2), path, "of a later release")
        check((width, first, tag) == (self.record.size, int(name[:20]), self.tag), path, "not of this stream")
        decode = self.rows if version == 1 else self.columns

        def records():
            found = list(decode(path, read(path), first, count, crc))
            bounds = (min(r[1] for r in found), max(r[1] for r in found))
            check(bounds == (least, most), path, "times outside the header's bounds")
            return found

        return first, first + count, flags & 2 != 0, records

    def rows(self, path, data, first, count, crc):
        check(len(data) == 64 + count * self.record.size, path, "wrong size")
        check(crc == zlib.crc32(data[64:]), path, "bad checksum")
        return self.record.iter_unpack(data[64:])

    def columns(self, path, data, first, count, crc):
        check(count <= (len(data) - 64) // 8, path, "more records than bytes")
        places, at = [], 64
        for code in self.codes:
            at += -at % 64
            places.append(at)
            at += count * struct.calcsize("<" + code)
        at += -at % 64
        footer = data[at:]
        check(len(footer) == 64 + 48 * len(places), path, "wrong size")
        check(crc == zlib.crc32(footer), path, "bad footer checksum")
        values = [range(first, first + count)]  # seq is not stored
        for i, (at, code) in enumerate(zip(places, self.codes)):
            name, column_crc, kind = struct.unpack_from("<16x12sIB", footer, 64 + 48 * i)
            name = name.rstrip(b"\0").decode()
            check((name, CODES[kind]) == ((["ts"] + self.names)[i], code), path, "another schema")
            column = data[at : at + count * struct.calcsize("<" + code)]
            check(column_crc == zlib.crc32(column), path, "bad checksum of " + name)
            values.append(struct.unpack("<%d%s" % (count, code), column))
        return zip(*values)

    # Journals.

    def journals(self):
        """The journals with a valid header, oldest first."""
        found = []
        for name in os.listdir(self.dir):
            if re.fullmatch(r"journal\.[0-3]", name):
                data = read(os.path.join(self.dir, name))
                headers = [h for h in (self.journal_header(name, data[at : at + 68]) for at in (0, 2048)) if h]
                if headers:
                    found.append(self.frames(data, *max(headers)))
        return sorted(found, key=lambda j: j["generation"])

    def journal_header(self, name, b):
        if len(b) < 68 or b[:4] != b"OXLJ" or struct.unpack("<I", b[64:])[0] != crc32c(b[:64]):
            return None
        version, width, generation, first, salt, base, id, tag = struct.unpack("<4xHHQQ8sQ16sI", b[:60])
        check(version == 1, name, "of a later release")
        if (width, id, tag) != (self.record.size, self.id, self.tag):
            return None
        return generation, first, salt, base

    def frames(self, data, generation, first, salt, base):
        """A journal's good frames: their records, and whether the batch ends with them."""
        j = {"generation": generation, "first": first, "durable": base, "frames": []}
        at, seq, width = 4096, first, self.record.size
        capacity = max(self.capacity, (len(data) - 4096 - 16) // (width + 16))  # of a time before alter
        while at + 16 <= len(data):
            crc, word, durable = struct.unpack_from("<IIQ", data, at)
            count, kind, goes_on = word & (1 << 28) - 1, word >> 28 & 7, word >> 31 != 0
            end = at + 16 + count * (8 if kind == 3 else width)
            if end > len(data) or durable > first + capacity or crc != crc32c(data[at + 4 : end], crc32c(salt)):
                break
            check(kind < 4, "a frame of a later release")
            records = list(self.record.iter_unpack(data[at + 16 : end])) if kind == 0 else []
            if [r[0] for r in records] != list(range(seq, seq + len(records))):
                break
            j["durable"] = max(j["durable"], durable)
            if kind in (1, 2):
                break  # a mark: the next frame overwrites it, so none follows
            if records:
                j["frames"].append((records, not goes_on))
            seq += len(records)
            at = end
        j["end"] = seq
        return j

    def cursor(self):
        """The durable cursor, 0 if its page doesn't check out."""
        path = os.path.join(self.dir, "cursors")
        b = read(path) if os.path.exists(path) else b""
        if len(b) < 44 or b[:4] != b"OXLC" or struct.unpack("<I", b[40:44])[0] != crc32c(b[:40]) or b[16:32] != self.id:
            return 0
        return struct.unpack("<Q", b[32:40])[0]

    def spans(self):
        """All that the stream holds and has held: (first, end, records or reason), sorted."""
        durable = self.cursor()
        journals = self.journals()  # before the files: records move from a journal to a file
        spans = self.drops()
        for name in sorted(os.listdir(self.dir)):
            if not re.fullmatch(r"[0-9]{20}\.seg", name):
                continue
            if any(first <= int(name[:20]) < end for first, end, reason in spans if isinstance(reason, str)):
                continue  # dropped, and not unlinked yet
            first, end, on_disk, records = self.segment(name)
            spans.append((first, end, records))
            durable = max(durable, end if on_disk else 0)
        covered = sorted(span[:2] for span in spans)
        covered_end = max((end for _, end in covered), default=0)

        def skip(seq):
            """The first number from seq on that no file and no drop covers."""
            for first, end in covered:
                if first <= seq < end:
                    seq = end
            return seq

        seq = whole = skip(0)  # the number reached, and the end of the last whole batch
        for i, j in enumerate(journals):
            durable = max(durable, j["durable"])
            void = any(later["first"] <= j["first"] for later in journals[i + 1 :])
            if void or skip(j["first"]) >= max(j["end"], j["first"] + 1):
                continue  # replaced, or free: all in files
            if j["first"] > seq:
                continue  # behind the stop
            for records, ends in j["frames"]:
                end = records[-1][0] + 1
                if end > seq:
                    spans.append((records[0][0], end, lambda records=records: records))
                    seq = skip(end)
                if ends:
                    whole = seq
        stop = max(whole, min(covered_end, seq))
        check(stop >= durable, "records [%d, %d) were acknowledged and are gone" % (stop, durable))
        if self.commit:
            stop = max(covered_end, min(stop, durable))
        return sorted((s for s in spans if s[0] < stop), key=lambda s: s[:2])


def main(dir):
    stream = Stream(dir)
    out = sys.stdout
    out.write(",".join(["seq", "ts"] + stream.names) + "\n")
    seq = 0
    for first, end, what in stream.spans():
        check(first <= seq, "records [%d, %d) are missing" % (seq, first))
        if isinstance(what, str):
            print("records [%d, %d) are gone: %s" % (first, end, what), file=sys.stderr)
        elif end > seq:
            for record in what():
                if record[0] >= seq:
                    out.write(",".join(map(str, record)) + "\n")
        seq = max(seq, end)
    out.flush()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read.py DIR")
    try:
        main(sys.argv[1])
    except (Damaged, OSError, ValueError, KeyError) as err:
        sys.exit("read.py: %s" % err)
