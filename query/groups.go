package query

import (
	"fmt"
	"math/bits"
	"slices"
)

// groups keeps the prims of every group met, by key: the interval's number if
// there are intervals, then the values of the fields, as bits widened to 64.
type groups struct {
	p     *plan
	width int      // words of a key
	keys  []uint64 // width of each group
	slots []wide   // len(p.prims) of each group
	table []uint32 // group+1 at the place of its key's hash, or behind it; 0 is free
	n     int
}

func (g *groups) reset(p *plan) {
	g.p, g.width, g.n = p, len(p.keys), 0
	if p.every > 0 {
		g.width++
	}
	g.keys, g.slots = g.keys[:0], g.slots[:0]
	if len(g.table) == 0 {
		g.table = make([]uint32, 256)
	}
	clear(g.table)
}

func (g *groups) key(i int) []uint64 { return g.keys[i*g.width:][:g.width] }
func (g *groups) at(i int) []wide    { return g.slots[i*len(g.p.prims):][:len(g.p.prims)] }

func hash(key []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, k := range key {
		hi, lo := bits.Mul64(h^k, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h ^ h>>29
}

// find returns the group of a key, making it if it is new.
func (g *groups) find(key []uint64) (int, error) {
	mask := uint64(len(g.table) - 1)
	at := hash(key) & mask
	for ; g.table[at] != 0; at = (at + 1) & mask {
		if i := int(g.table[at] - 1); slices.Equal(g.key(i), key) {
			return i, nil
		}
	}
	if g.n >= g.p.limit {
		return 0, fmt.Errorf("%w: more than %d", ErrTooMany, g.p.limit)
	}
	g.keys = append(g.keys, key...)
	g.slots = append(g.slots, g.p.init...)
	g.n++
	g.table[at] = uint32(g.n)
	if g.n*2 > len(g.table) {
		g.grow()
	}
	return g.n - 1, nil
}

func (g *groups) grow() {
	g.table = make([]uint32, 2*len(g.table))
	mask := uint64(len(g.table) - 1)
	for i := range g.n {
		at := hash(g.key(i)) & mask
		for g.table[at] != 0 {
			at = (at + 1) & mask
		}
		g.table[at] = uint32(i + 1)
	}
}

// add merges a group's prims into those of the same key.
func (g *groups) add(key []uint64, slots []wide) error {
	i, err := g.find(key)
	if err != nil {
		return err
	}
	g.p.merge(g.at(i), slots)
	return nil
}

// addAll merges all groups of o.
func (g *groups) addAll(o *groups) error {
	for i := range o.n {
		if err := g.add(o.key(i), o.at(i)); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the groups in the order of their keys.
func (g *groups) sorted() []int {
	out := make([]int, g.n)
	for i := range out {
		out[i] = i
	}
	signed := make([]bool, 0, g.width)
	if g.p.every > 0 {
		signed = append(signed, true)
	}
	for _, k := range g.p.keys {
		signed = append(signed, k.kind.Signed())
	}
	slices.SortFunc(out, func(a, b int) int {
		ka, kb := g.key(a), g.key(b)
		for i := range ka {
			if x, y := order(ka[i], signed[i]), order(kb[i], signed[i]); x != y {
				if x < y {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	return out
}
