package sim

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
)

// Kill returns the disk as it is after the death of the process: all that was
// written is there, synced or not, and what was undecided still is. Locks are
// free, and there are no descriptions, mappings and hook. The disk itself goes
// on unchanged.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
	k := newDisk(d.sector, d.capacity)
	k.nodes = d.nodes
	k.root = d.root.twin(make(map[*node]*node))
	k.count(k.root)
	return k
}

// twin copies n with all that it may have been.
func (n *node) twin(made map[*node]*node) *node {
	if n == nil {
		return nil
	}
	if t := made[n]; t != nil {
		return t
	}
	t := &node{id: n.id, dir: n.dir, lost: n.lost, sizes: slices.Clone(n.sizes),
		errors: n.errors, err: n.err, reported: n.reported}
	made[n] = t
	if !n.dir {
		t.data, t.shared = n.share()
	}
	t.dirty = slices.Clone(n.dirty)
	for i := range t.dirty {
		t.dirty[i].old = slices.Clip(t.dirty[i].old)
	}
	t.names = slices.Clone(n.names)
	for i := range t.names {
		e := &t.names[i]
		e.now = e.now.twin(made)
		e.old = slices.Clone(e.old)
		for j := range e.old {
			e.old[j] = e.old[j].twin(made)
		}
	}
	return t
}

// share returns the file's bytes for another disk, and whether they are to be
// copied before they are written. Mapped ones can't be shared.
func (n *node) share() ([]byte, bool) {
	if n.maps > 0 {
		return clone(n.content()), false
	}
	n.shared = true
	return n.data, true
}

// count sets the links of all nodes below n, and the bytes that they use.
func (d *Disk) count(n *node) {
	for _, e := range n.names {
		if e.now == nil {
			continue
		}
		e.now.links++
		if e.now.links == 1 {
			d.used += int64(len(e.now.data))
			d.count(e.now)
		}
	}
}

// Pending returns the number of versions of each undecided cell, in the order
// in which Cut asks for them. Their product is the number of ways to choose;
// many of them may give the same image, as the cells of a file don't matter
// where it has no name.
func (d *Disk) Pending() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
	return d.cells().versions
}

// Cut returns what a power cut leaves, where choose picks one of n ≥ 2 versions
// of each undecided cell: 0 is the one that was synced, n-1 the newest. In the
// image all is settled. The disk itself goes on unchanged.
//
// A file that shows under two names after an unfinished rename is two files of
// the same content in the image.
func (d *Disk) Cut(choose func(n int) int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notice()
	c := d.cells()
	chosen := make([]int, len(c.versions))
	for i, n := range c.versions {
		chosen[i] = choose(n)
	}
	return d.cut(c, func(cell int) int { return chosen[cell] })
}

// CutRandom is Cut with each cell's newest version at the probability keep, and
// otherwise any of the others. At keep 0 nothing is left that wasn't synced, at
// 1 everything.
func (d *Disk) CutRandom(rng *rand.Rand, keep float64) *Disk {
	return d.Cut(func(n int) int {
		switch {
		case rng.Float64() < keep:
			return n - 1
		case keep <= 0:
			return 0
		}
		return rng.IntN(n - 1)
	})
}

// AllCuts yields every image that a power cut may leave of the disk as it is
// when the loop begins, the one with the least in it first, the one with
// everything last. Cells that don't matter, in files that the image doesn't have
// or behind their ends, are not gone through.
func (d *Disk) AllCuts() iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		still := d.Kill()
		c := still.cells()
		var way []choice // those met in this image, in order
		for {
			met := 0
			made := make(map[int]int)
			img := still.cut(c, func(cell int) int {
				if at, ok := made[cell]; ok {
					return way[at].picked
				}
				if met == len(way) {
					way = append(way, choice{versions: c.versions[cell]})
				}
				made[cell] = met
				met++
				return way[met-1].picked
			})
			if !yield(img) {
				return
			}
			for len(way) > 0 && way[len(way)-1].picked == way[len(way)-1].versions-1 {
				way = way[:len(way)-1]
			}
			if len(way) == 0 {
				return
			}
			way[len(way)-1].picked++
		}
	}
}

// Evict lets the system drop from its cache what it failed to write back: each
// such sector reads from now on as the version that choose picks, as for Cut.
// Until then, and where a file is mapped, the newest one is read.
func (d *Disk) Evict(choose func(n int) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.cells().nodes {
		if n.maps > 0 {
			continue
		}
		for _, s := range n.dirty {
			if !s.lost {
				continue
			}
			if k := choose(len(s.old) + 1); k < len(s.old) {
				n.own()
				to := d.part(n.data, s.at)
				clear(to)
				copy(to, s.old[k])
			}
		}
		n.dirty = slices.DeleteFunc(n.dirty, func(s sector) bool { return s.lost })
	}
}

type choice struct{ versions, picked int }

// cells are the undecided things of a disk: of each node, in the order they were
// made, names in their order, or the size and then the sectors.
type cells struct {
	versions []int
	nodes    []*node
	first    map[*node]int // where a node's cells begin
}

func (d *Disk) cells() cells {
	c := cells{first: make(map[*node]int)}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		if _, ok := c.first[n]; ok {
			return
		}
		c.first[n] = 0
		c.nodes = append(c.nodes, n)
		for _, e := range n.names {
			visit(e.now)
			for _, old := range e.old {
				visit(old)
			}
		}
	}
	visit(d.root)
	slices.SortFunc(c.nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	for _, n := range c.nodes {
		c.first[n] = len(c.versions)
		for _, e := range n.names {
			if len(e.old) > 0 {
				c.versions = append(c.versions, len(e.old)+1)
			}
		}
		if len(n.sizes) > 0 {
			c.versions = append(c.versions, len(n.sizes)+1)
		}
		for _, s := range n.dirty {
			c.versions = append(c.versions, len(s.old)+1)
		}
	}
	return c
}

// cut makes the image in which each cell has the version that pick says.
func (d *Disk) cut(c cells, pick func(cell int) int) *Disk {
	img := newDisk(d.sector, d.capacity)
	b := builder{Disk: d, img: img, cells: c, pick: func(cell int) int {
		k := pick(cell)
		if k < 0 || k >= c.versions[cell] {
			panic(fmt.Sprintf("sim: version %d of %d chosen", k, c.versions[cell]))
		}
		return k
	}}
	img.root = b.directory(d.root)
	img.count(img.root)
	return img
}

type builder struct {
	*Disk
	img    *Disk
	cells  cells
	pick   func(cell int) int
	inside []*node // the directories on the way here
}

// directory returns nil for one inside itself, which renames that crossed can make.
func (b *builder) directory(n *node) *node {
	if slices.Contains(b.inside, n) {
		return nil
	}
	b.inside = append(b.inside, n)
	defer func() { b.inside = b.inside[:len(b.inside)-1] }()
	made := b.img.newNode(true)
	cell := b.cells.first[n]
	for _, e := range n.names {
		to := e.now
		if len(e.old) > 0 {
			if k := b.pick(cell); k < len(e.old) {
				to = e.old[k]
			}
			cell++
		}
		var child *node
		switch {
		case to == nil:
		case to.dir:
			child = b.directory(to)
		default:
			child = b.file(to)
		}
		if child != nil {
			made.names = append(made.names, name{name: e.name, now: child})
		}
	}
	return made
}

func (b *builder) file(n *node) *node {
	made := b.img.newNode(false)
	cell := b.cells.first[n]
	size := len(n.data)
	if len(n.sizes) > 0 {
		if k := b.pick(cell); k < len(n.sizes) {
			size = int(n.sizes[k])
		}
		cell++
	}
	var edited []byte // a copy, where the image isn't as the cache is
	edit := func() {
		if edited == nil {
			edited = make([]byte, size, roundUp(size, SectorSize))
			rawCopy(edited, n.content())
		}
	}
	if size != len(n.data) {
		edit()
	}
	for i, s := range n.dirty {
		if s.at*b.sector >= size {
			break
		}
		if k := b.pick(cell + i); k < len(s.old) {
			edit()
			to := b.part(edited, s.at)
			clear(to)
			copy(to, s.old[k])
		}
	}
	if made.data = edited; edited == nil {
		made.data, made.shared = n.share()
	}
	return made
}
