package disk

import (
	"fmt"
	"io/fs"

	"github.com/edsrzf/mmap-go"
)

// An osMapping is a shared mapping of a file of the host.
type osMapping struct {
	m   mmap.MMap
	tie mapTie // what the system needs besides, to flush and to unmap it
}

func (f *osFile) Map(n int, writable bool) (Mapping, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if n < 1 || int64(n) > size {
		return nil, f.mapError(fmt.Errorf("%d bytes asked of a file of %d", n, size))
	}
	m := new(osMapping)
	from, err := m.tie.hold(f.f, writable)
	if err != nil {
		return nil, f.mapError(err)
	}
	prot := mmap.RDONLY
	if writable {
		prot = mmap.RDWR
	}
	if m.m, err = mmap.MapRegion(from, n, prot, 0, 0); err != nil {
		m.tie.release()
		return nil, f.mapError(err)
	}
	m.tie.enter(m)
	return m, nil
}

func (f *osFile) mapError(err error) error {
	return Classed(&fs.PathError{Op: "mmap", Path: f.f.Name(), Err: err})
}

func (m *osMapping) Bytes() []byte { return m.m }

func (m *osMapping) WillNeed(off, n int) {
	if off < 0 || n <= 0 || off >= len(m.m) {
		return
	}
	willNeed(m.m, off, min(n, len(m.m)-off))
}

func (m *osMapping) Populate() { populate(m.m) }

func (m *osMapping) Unmap() error {
	m.tie.leave(m)
	err := m.m.Unmap()
	m.tie.release()
	return Classed(err)
}
