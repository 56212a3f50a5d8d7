package disk

import "golang.org/x/sys/unix"

func statfsFree(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return max(0, s.F_bavail) * int64(s.F_bsize), nil
}
