package segment

import "sync"

// mapsMax is how many files the process keeps mapped unless LimitMaps says
// otherwise. Linux allows 65,530 mappings, the runtime's and the journals' among
// them.
const mapsMax = 60_000

// maps is the list of all mapped files of the process, whatever their streams.
var maps = mapList{max: mapsMax}

// A mapList keeps the number of mappings down. When it grows above max, files
// that nobody holds are unmapped, those first that were not used since the hand
// last passed them: nearly the least recently used, without a lock on each use.
type mapList struct {
	mu    sync.Mutex
	files []*File // each knows its slot
	hand  int
	max   int
}

// LimitMaps sets how many sealed files the process keeps mapped when nobody
// uses them, over all its streams, and returns what it was. It is 60,000 at
// first. Files in use are never unmapped, so there may be more. n < 1 means 1.
func LimitMaps(n int) (old int) {
	maps.mu.Lock()
	old, maps.max = maps.max, max(n, 1)
	over := len(maps.files) - maps.max
	maps.mu.Unlock()
	maps.evict(over, 2*(over+maps.count()))
	return old
}

// Maps returns how many sealed files are mapped now, over all streams.
func Maps() int { return maps.count() }

func (l *mapList) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files)
}

// add enters a file that was mapped, and makes room for it.
func (l *mapList) add(f *File) {
	l.mu.Lock()
	f.slot = len(l.files)
	l.files = append(l.files, f)
	over := len(l.files) - l.max
	l.mu.Unlock()
	const looks = 64 // where nearly all are in use, don't search long
	l.evict(over, looks)
}

// remove takes out a file that is being unmapped.
func (l *mapList) remove(f *File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.files) - 1
	l.files[f.slot] = l.files[last]
	l.files[f.slot].slot = f.slot
	l.files[last] = nil
	l.files = l.files[:last]
}

// evict unmaps up to n files that nobody uses, and returns how many. It looks at
// most at so many files, and twice at none but for a chance of each.
func (l *mapList) evict(n, looks int) (done int) {
	looks = min(looks, 2*l.count())
	for ; done < n && looks > 0; looks-- {
		if f := l.next(); f != nil && !f.used.Swap(false) && f.evictIdle() {
			done++
		}
	}
	return done
}

// next moves the hand by one file.
func (l *mapList) next() *File {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		return nil
	}
	l.hand = (l.hand + 1) % len(l.files)
	return l.files[l.hand]
}
