//go:build darwin || dragonfly || freebsd

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
	blocks := int64(s.Bavail)
	if blocks < 0 { // the reserve is being used
		return 0, nil
	}
	hi, lo := bits.Mul64(uint64(blocks), uint64(s.Bsize))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(lo), nil
}
