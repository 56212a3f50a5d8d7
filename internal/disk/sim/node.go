package sim

import (
	"slices"
	"strings"
)

// A node is a file or a directory, whatever its names.
type node struct {
	id    int // in the order made
	links int // names that it has now
	opens int // descriptions and mappings of it
	dir   bool

	names []name // of a directory, sorted

	// Of a file:
	data     []byte   // the cache, as the engine reads and maps it; its length is the size
	shared   bool     // data is another disk's as well, and isn't written
	dirty    []sector // undecided, sorted
	sizes    []int64  // that the disk may have instead of len(data), the settled one first
	lost     bool     // sizes belong to a failed write: a sync doesn't settle them
	maps     int      // mappings of data
	stores   int      // how many of them are writable
	epoch    int      // how often data was taken away from its mappings
	seen     []byte   // data at the last look, while stores > 0
	errors   int      // failed writings back so far
	err      error    // the last of them
	reported bool     // and somebody was told
}

// A name is an entry of a directory.
type name struct {
	name string
	now  *node   // nil: removed
	old  []*node // what the disk may show instead, the settled one first; nil: no such name
}

// A sector is one whose content isn't settled.
type sector struct {
	at   int      // its number
	old  [][]byte // contents that the disk may have instead of the current one, the settled one first; nil: zeros
	lost bool     // a write of it failed: a sync doesn't settle it
}

func (d *Disk) newNode(dir bool) *node {
	d.nodes++
	return &node{id: d.nodes, dir: dir}
}

// find returns where entry is in the directory, or belongs.
func (n *node) find(entry string) (int, bool) {
	return slices.BinarySearchFunc(n.names, entry, func(e name, s string) int { return strings.Compare(e.name, s) })
}

// child returns what entry names now, or nil.
func (n *node) child(entry string) *node {
	if i, ok := n.find(entry); ok {
		return n.names[i].now
	}
	return nil
}

// set makes entry name to, or nothing.
func (d *Disk) set(dir *node, entry string, to *node) {
	i, ok := dir.find(entry)
	if !ok {
		dir.names = slices.Insert(dir.names, i, name{name: entry})
	}
	e := &dir.names[i]
	if e.now == to {
		return
	}
	if !slices.Contains(e.old, e.now) {
		e.old = append(e.old, e.now)
	}
	was := e.now
	e.now = to
	if to != nil {
		to.links++
	}
	if was != nil {
		was.links--
		d.free(was)
	}
}

// free gives the bytes of a file back that nobody can reach any more.
func (d *Disk) free(n *node) {
	if n.links == 0 && n.opens == 0 {
		d.used -= int64(len(n.data))
	}
}

// isEmpty reports whether the directory has no name now.
func (n *node) isEmpty() bool {
	return !slices.ContainsFunc(n.names, func(e name) bool { return e.now != nil })
}

// settleNames makes the directory's names as they are the only ones.
func (n *node) settleNames() {
	n.names = slices.DeleteFunc(n.names, func(e name) bool { return e.now == nil })
	for i := range n.names {
		n.names[i].old = nil
	}
}
