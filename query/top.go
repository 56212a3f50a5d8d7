package query

import (
	"container/heap"
	"slices"
)

// A top keeps the n items that come first in the order of cmp, in which no two
// are equal. The last of them is on top of a heap.
type top[T any] struct {
	n     int
	items []T
	cmp   func(a, b T) int
}

// add keeps x if it is among the first n.
func (t *top[T]) add(x T) {
	switch {
	case len(t.items) < t.n:
		heap.Push(t, x)
	case t.n > 0 && t.cmp(x, t.items[0]) < 0:
		t.items[0] = x
		heap.Fix(t, 0)
	}
}

// sorted returns the items in order. The top is of no use behind that.
func (t *top[T]) sorted() []T {
	slices.SortFunc(t.items, t.cmp)
	return t.items
}

// Len, Less, Swap, Push and Pop are for package heap.
func (t *top[T]) Len() int           { return len(t.items) }
func (t *top[T]) Less(i, j int) bool { return t.cmp(t.items[i], t.items[j]) > 0 }
func (t *top[T]) Swap(i, j int)      { t.items[i], t.items[j] = t.items[j], t.items[i] }
func (t *top[T]) Push(x any)         { t.items = append(t.items, x.(T)) }
func (t *top[T]) Pop() any           { panic("query: nothing is taken off a top") }
