package book

import (
	"cmp"
	"slices"

	"example.com/ledger/shapes"
)

// side is the bids or the asks of a book: its price levels from the worst to
// the best. Trading happens at the end of the slice, where adding and dropping a
// level moves few others.
type side struct {
	code   shapes.Side
	sign   int64 // 1 for bids, −1 for asks: a larger key is a better price on both
	levels []*level
}

// level is the queue of the orders at one price.
type level struct {
	side       *side
	px         int32
	key        int64 // sign × px
	head, tail *resting
}

func (s *side) key(px int32) int64 { return s.sign * int64(px) }

// best returns the best level, or nil if the side is empty.
func (s *side) best() *level {
	if len(s.levels) == 0 {
		return nil
	}
	return s.levels[len(s.levels)-1]
}

// find returns where the level with this key is, or belongs.
func (s *side) find(key int64) (int, bool) {
	return slices.BinarySearchFunc(s.levels, key, func(l *level, key int64) int {
		return cmp.Compare(l.key, key)
	})
}

// at returns the level of a price, making it if there is none.
func (s *side) at(px int32) *level {
	key := s.key(px)
	i, ok := s.find(key)
	if !ok {
		s.levels = slices.Insert(s.levels, i, &level{side: s, px: px, key: key})
	}
	return s.levels[i]
}

// drop takes away an empty level.
func (s *side) drop(l *level) {
	if i, ok := s.find(l.key); ok {
		s.levels = slices.Delete(s.levels, i, i+1)
	}
}

func (l *level) push(r *resting) {
	r.level, r.prev = l, l.tail
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.next = r
	}
	l.tail = r
}

func (l *level) remove(r *resting) {
	if r.prev == nil {
		l.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
}
