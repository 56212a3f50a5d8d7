package disk

import (
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

func statfsFree(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	size := s.Frsize // what Bavail counts; old systems say it in Bsize
	if size <= 0 {
		size = s.Bsize
	}
	hi, lo := bits.Mul64(s.Bavail, uint64(size))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(lo), nil
}
