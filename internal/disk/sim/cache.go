package sim

import (
	"slices"
	"syscall"
)

// content is the file as the disk knows it: while it is mapped for writing, as
// of the last look.
func (n *node) content() []byte {
	if n.stores > 0 {
		return n.seen
	}
	return n.data
}

// part returns the bytes of b that are in sector at: fewer than a sector at b's
// end, none behind it.
func (d *Disk) part(b []byte, at int) []byte {
	lo := min(at*d.sector, len(b))
	return b[lo:min(lo+d.sector, len(b))]
}

// touch returns sector at's entry, making one if it is settled.
func (n *node) touch(at int) *sector {
	i, ok := slices.BinarySearchFunc(n.dirty, at, func(s sector, at int) int { return s.at - at })
	if !ok {
		n.dirty = slices.Insert(n.dirty, i, sector{at: at})
	}
	return &n.dirty[i]
}

// age makes the content that sector at has now one of its older ones.
func (n *node) age(d *Disk, at int) {
	s := n.touch(at)
	s.lost = false
	now := d.part(n.content(), at)
	if slices.ContainsFunc(s.old, func(old []byte) bool { return sameSector(old, now) }) {
		return
	}
	var old []byte
	if !isZero(now) {
		old = make([]byte, d.sector)
		copy(old, now)
	}
	s.old = append(s.old, old)
}

// sameSector reports whether an older content is that of now, which ends where
// the file ends.
func sameSector(old, now []byte) bool {
	if old == nil {
		return isZero(now)
	}
	return rawEqual(old[:len(now)], now) && isZero(old[len(now):])
}

// rewritten says that the same bytes were written to sector at again: if a
// write of it had failed, it is to be written back now.
func (n *node) rewritten(at int) {
	i, ok := slices.BinarySearchFunc(n.dirty, at, func(s sector, at int) int { return s.at - at })
	if ok {
		n.dirty[i].lost = false
	}
}

// resize makes the file size bytes long, zeros at its end.
func (n *node) resize(d *Disk, size int) {
	was := len(n.data)
	if size == was {
		return
	}
	if n.maps > 0 && size > was {
		panic("sim: a file grows under its mapping")
	}
	if !slices.Contains(n.sizes, int64(was)) {
		n.sizes = append(n.sizes, int64(was))
	}
	d.used += int64(size - was)
	if size > cap(n.data) || size < was {
		// Whole sectors, so that the memory is aligned as a mapping's would be.
		data := make([]byte, size, roundUp(max(size, min(2*was, size+1<<20)), SectorSize))
		rawCopy(data, n.data[:min(size, was)])
		n.data, n.shared = data, false
		return
	}
	n.data = n.data[:size]
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// own makes data the file's own, to be written.
func (n *node) own() {
	if n.shared {
		n.data = clone(n.data)
		n.shared = false
	}
}

// clone copies b to memory of whole sectors.
func clone(b []byte) []byte {
	c := make([]byte, len(b), roundUp(len(b), SectorSize))
	rawCopy(c, b)
	return c
}

// write puts p at off. It returns how much of p there was room for.
func (n *node) write(d *Disk, p []byte, off int64) (int, error) {
	n.notice(d)
	if off > maxFile-int64(len(p)) {
		return 0, syscall.EFBIG
	}
	var full error
	if grow := off + int64(len(p)) - int64(len(n.data)); grow > 0 && grow > d.capacity-d.used {
		full = syscall.ENOSPC
		p = p[:max(0, int64(len(p))-(grow-max(0, d.capacity-d.used)))]
	}
	if len(p) == 0 {
		return 0, full
	}
	n.resize(d, max(len(n.data), int(off)+len(p)))
	n.own()
	n.lost = false
	for done := 0; done < len(p); {
		at := (int(off) + done) / d.sector
		lo := (int(off) + done) % d.sector
		b := d.buf[lo : lo+copy(d.buf[lo:], p[done:])] // p is the caller's: no business behind the detector's back
		if to := d.part(n.content(), at)[lo:]; rawEqual(to[:len(b)], b) {
			n.rewritten(at)
		} else {
			n.age(d, at)
			if n.stores > 0 {
				rawCopy(to, b)
			}
			rawCopy(d.part(n.data, at)[lo:], b)
		}
		done += len(b)
	}
	return len(p), full
}

// maxFile is the largest size of a file, so that offsets fit an int everywhere.
const maxFile = 1<<31 - 1

// truncate empties the file. Mappings keep the bytes that it had.
func (n *node) truncate(d *Disk) {
	n.notice(d)
	for at := range roundUp(len(n.data), d.sector) / d.sector {
		if !isZero(d.part(n.content(), at)) {
			n.age(d, at)
		}
	}
	n.lost = false
	n.resize(d, 0)
	if n.maps > 0 {
		n.detach()
		delete(d.mapped, n)
	}
}

// detach takes the file's bytes away from its mappings, which keep the memory.
func (n *node) detach() {
	n.data = clone(n.content()[:len(n.data)])
	n.shared = false
	n.maps, n.stores, n.seen = 0, 0, nil
	n.epoch++
}

// notice makes what was stored into a mapping since the last look known to the disk.
func (n *node) notice(d *Disk) {
	if n.stores == 0 {
		return
	}
	const piece = 4096
	for lo := 0; lo < len(n.seen); lo += piece {
		hi := min(lo+piece, len(n.seen))
		if rawEqual(n.seen[lo:hi], n.data[lo:hi]) {
			continue
		}
		for at := lo / d.sector; at*d.sector < hi; at++ {
			b := d.buf[:len(d.part(n.data, at))]
			rawCopy(b, d.part(n.data, at)) // it may change again while we look
			if !rawEqual(b, d.part(n.seen, at)) {
				n.age(d, at)
				n.lost = false
				rawCopy(d.part(n.seen, at), b)
			}
		}
	}
}

// sync settles the file's bytes and size, but for what failed before and wasn't
// written again.
func (n *node) sync() {
	n.dirty = slices.DeleteFunc(n.dirty, func(s sector) bool { return !s.lost })
	if !n.lost {
		n.sizes = nil
	}
}

// failWriteback leaves what isn't settled so for good, and owes each
// description an error.
func (n *node) failWriteback(err error) {
	for i := range n.dirty {
		n.dirty[i].lost = true
	}
	n.lost = len(n.sizes) > 0
	n.errors++
	n.err, n.reported = err, false
}
