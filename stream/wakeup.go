package stream

import "sync"

// A wakeup lets any number of goroutines wait for the next all.
type wakeup struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that the next all closes.
func (w *wakeup) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
	}
	return w.ch
}

// all wakes everybody who waits.
func (w *wakeup) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch != nil {
		close(w.ch)
		w.ch = nil
	}
}
