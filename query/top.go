package query

import "slices"

// A top keeps the n items that come first in the order of cmp, in which no two
// are equal. They are a heap with the last of them on top.
type top[T any] struct {
	n     int
	items []T
	cmp   func(a, b T) int
}

// add keeps x if it is among the first n.
func (t *top[T]) add(x T) {
	switch {
	case len(t.items) < t.n:
		t.items = append(t.items, x)
		t.up(len(t.items) - 1)
	case t.n > 0 && t.cmp(x, t.items[0]) < 0:
		t.items[0] = x
		t.down(0)
	}
}

// up moves item i up until the one above it comes behind it.
func (t *top[T]) up(i int) {
	for i > 0 {
		above := (i - 1) / 2
		if t.cmp(t.items[above], t.items[i]) > 0 {
			return
		}
		t.items[above], t.items[i] = t.items[i], t.items[above]
		i = above
	}
}

// down moves item i down until those below it come before it.
func (t *top[T]) down(i int) {
	for {
		below := 2*i + 1
		if below >= len(t.items) {
			return
		}
		if k := below + 1; k < len(t.items) && t.cmp(t.items[k], t.items[below]) > 0 {
			below = k
		}
		if t.cmp(t.items[i], t.items[below]) > 0 {
			return
		}
		t.items[i], t.items[below] = t.items[below], t.items[i]
		i = below
	}
}

// sorted returns the items in order. The top is of no use behind that.
func (t *top[T]) sorted() []T {
	slices.SortFunc(t.items, t.cmp)
	return t.items
}
