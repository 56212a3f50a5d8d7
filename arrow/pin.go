package arrow

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A pin keeps a part of a snapshot mapped as long as buffers show it. As far as
// Arrow knows it is the allocator of their memory, which it only ever frees.
type pin struct {
	refs    atomic.Int64
	release func()
}

// newPin returns a pin with one reference, the caller's. The last one that is
// given back calls release.
func newPin(release func()) *pin {
	p := &pin{release: release}
	p.refs.Store(1)
	return p
}

// buffer returns a buffer that shows b and holds the pin until it is freed.
func (p *pin) buffer(b []byte) *memory.Buffer {
	p.refs.Add(1)
	return memory.NewBufferWithAllocator(b, p)
}

// unpin gives a reference back.
func (p *pin) unpin() {
	if p.refs.Add(-1) == 0 {
		p.release()
	}
}

// Free is called when the last reference on a buffer is gone.
func (p *pin) Free([]byte) { p.unpin() }

// Allocate is never called: buffers of a pin are not resizable.
func (p *pin) Allocate(int) []byte { panic("arrow: a mapped file can't grow") }

// Reallocate is never called: buffers of a pin are not resizable.
func (p *pin) Reallocate(int, []byte) []byte { panic("arrow: a mapped file can't grow") }
