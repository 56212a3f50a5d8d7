package query

import "example.com/ledger/internal/kern"

// pick loads the window [lo, hi) and returns the selected positions in it, nil
// for all, and their number.
func (w *worker) pick(lo, hi int, t *tree) (sel []uint32, n int) {
	b := w.b
	b.load(lo, hi)
	if t == always {
		return nil, b.n
	}
	mask := b.eval(t)
	n = kern.Count(mask, b.n)
	if n == b.n {
		return nil, n
	}
	w.sel = kern.Select(w.sel[:0], mask, b.n)
	return w.sel, n
}

// generic adds records to groups whatever the keys are: it finds the group of
// each record, then adds up prim by prim. If timed, the interval is that of each
// record's time, else it is n.
func (w *worker) generic(lo, hi int, t *tree, timed bool, n int64) error {
	for i := lo; i < hi; i += w.b.size {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		sel, count := w.pick(i, min(i+w.b.size, hi), t)
		if count == 0 {
			continue
		}
		if err := w.block(sel, count, timed, n); err != nil {
			return err
		}
	}
	return nil
}

// block adds the selected records of the window.
func (w *worker) block(sel []uint32, count int, timed bool, n int64) error {
	w.keys = w.keys[:0]
	if w.p.every > 0 {
		w.keys = append(w.keys, w.buckets(sel, count, timed, n))
	}
	for _, k := range w.p.keys {
		w.keys = append(w.keys, w.b.packedWide(k.id, sel))
	}
	if err := w.find(count); err != nil {
		return err
	}
	seq := w.b.g.First() + uint64(w.b.lo)
	np, slots := len(w.p.prims), w.groups.slots
	for i, x := range w.p.prims {
		if x.op == primCount {
			for _, g := range w.gids {
				slots[int(g)*np+i].addInt(1)
			}
			continue
		}
		isSigned := w.b.col(x.a).kind.Signed()
		v := w.b.packedWide(x.a, sel)[:len(w.gids)]
		switch x.op {
		case primSum:
			for k, g := range w.gids {
				slots[int(g)*np+i].add(wideBits(v[k], isSigned))
			}
		case primDot:
			u := w.b.packedWide(x.b, sel)[:len(w.gids)]
			bSigned := w.b.col(x.b).kind.Signed()
			for k, g := range w.gids {
				slots[int(g)*np+i].addMul(v[k], u[k], isSigned, bSigned)
			}
		case primMin:
			for k, g := range w.gids {
				s := &slots[int(g)*np+i]
				s[0] = min(s[0], order(v[k], isSigned))
			}
		case primMax:
			for k, g := range w.gids {
				s := &slots[int(g)*np+i]
				s[0] = max(s[0], order(v[k], isSigned))
			}
		case primFirst:
			for k, g := range w.gids {
				if s := &slots[int(g)*np+i]; seq < s[1] {
					*s = wide{v[k], seq}
				}
			}
		case primLast:
			for k, g := range w.gids {
				if s := &slots[int(g)*np+i]; seq >= s[1] {
					*s = wide{v[k], seq}
				}
			}
		}
	}
	return nil
}

// find sets gids to the groups of the keys. Neighbours often have the same.
func (w *worker) find(count int) error {
	w.gids = w.gids[:0]
	last := -1
	for i := range count {
		same := last >= 0
		for k, v := range w.keys {
			if v[i] != w.key[k] {
				same = false
				w.key[k] = v[i]
			}
		}
		if !same {
			g, err := w.groups.find(w.key)
			if err != nil {
				return err
			}
			last = g
		}
		w.gids = append(w.gids, uint32(last))
	}
	return nil
}

// buckets returns the interval of each selected record.
func (w *worker) buckets(sel []uint32, count int, timed bool, n int64) []uint64 {
	if cap(w.bucket) < count {
		w.bucket = make([]uint64, max(count, w.b.size))
	}
	out := w.bucket[:count]
	if !timed {
		for i := range out {
			out[i] = uint64(n)
		}
		return out
	}
	every := w.p.every
	from, to := int64(1), int64(0)
	for i, bits := range w.b.packedWide(colTime, sel) {
		if ts := int64(bits); ts < from || ts > to {
			n = floorDiv(ts, every)
			from, to = intervalBounds(n, every)
		}
		out[i] = uint64(n)
	}
	return out
}
