package verify

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"example.com/ledger/internal/journal"
)

// behind describes what follows the last frame of the replay.
func (w *journalWalk) behind() {
	s := w.scan
	kind, why := w.hole()
	from, to := s.End, max(s.End, s.BehindEnd())
	if s.Durable > s.End {
		to = max(to, s.Durable)
	}
	unread := func(next int64) {
		r := Range{Length: next - w.end(), Meaning: "unreadable", Class: Data, Check: Bad, kind: kind, Detail: why, from: from, to: to}
		if kind == "" {
			r.Class, r.Check = Free, None
		}
		w.put(r)
		kind = "" // said once
	}
	for _, x := range w.standing() {
		unread(x.off)
		if x.mark {
			w.mark(x.off)
		} else {
			w.frame(x.frame)
		}
	}
	if kind != "" {
		w.put(Range{Meaning: "end of frames", Class: Data, Check: Bad, kind: kind, Detail: why, from: from, to: to})
	}
	w.put(Range{Length: int64(len(w.data)) - w.end(), Meaning: "space", Class: Free, Check: None})
}

// hole tells whether the place where the replay stops is damage, and of what
// kind: records below it were durable, or it has good frames or marks behind it
// and no sync of a batch can explain them, as on a Commit stream it does.
func (w *journalWalk) hole() (kind, why string) {
	s := w.scan
	switch {
	case w.facts.covered.Covers(s.End, max(s.End+1, s.BehindEnd(), s.Durable)):
		return "", "" // named as lost, or sealed
	case s.Durable > s.End:
		return KindLost, fmt.Sprintf("records below %d were durable", s.Durable)
	case s.Header.Mode == modeCommit:
		return "", ""
	case len(s.Behind) > 0 || len(w.marksBehind()) > 0:
		return KindHole, "good frames or marks stand behind it"
	}
	return "", ""
}

// A standing is a good frame or mark behind the stop.
type standing struct {
	off   int64
	mark  bool
	frame journal.Frame
}

func (w *journalWalk) standing() []standing {
	var all []standing
	for _, f := range w.scan.Behind {
		all = append(all, standing{off: f.Offset, frame: f})
	}
	for _, off := range w.marksBehind() {
		all = append(all, standing{off: off, mark: true})
	}
	slices.SortFunc(all, func(a, b standing) int { return int(a.off - b.off) })
	return all
}

// marksBehind returns the offsets of the good marks behind the stop, the one at
// the stop not counted, that lie in no frame.
func (w *journalWalk) marksBehind() []int64 {
	s := w.scan
	off := s.Stop
	if s.StopKind >= 0 {
		off += journal.FrameSize
	}
	return marks(w.data, s.Header, off, s.Behind)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// marks returns the offsets of the good marks from off on that lie in none of
// the frames.
func marks(data []byte, h journal.Header, off int64, frames []journal.Frame) []int64 {
	var out []int64
	seed := crc32.Checksum(binary.LittleEndian.AppendUint64(nil, h.Salt), castagnoli)
	for off+journal.FrameSize <= int64(len(data)) {
		for len(frames) > 0 && frames[0].Offset < off {
			frames = frames[1:]
		}
		if len(frames) > 0 && frames[0].Offset == off {
			off += journal.FrameSize + int64(frames[0].Count)*int64(h.Width)
			continue
		}
		b := data[off : off+journal.FrameSize]
		kind := binary.LittleEndian.Uint32(b[4:])
		if (kind == journal.KindMark<<28 || kind == journal.KindClosing<<28) &&
			crc32.Update(seed, castagnoli, b[4:]) == binary.LittleEndian.Uint32(b) {
			out = append(out, off)
			off += journal.FrameSize
			continue
		}
		off += 8
	}
	return out
}
