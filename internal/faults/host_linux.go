package faults

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fsIocShutdown is FS_IOC_SHUTDOWN, _IOR('X', 125, __u32).
const fsIocShutdown = 0x8004587d

// PowerCut returns what cuts the power of the file system of dir's parent, as
// far as files can tell: all I/O fails from then on, and what is mounted again
// is what was on the disk. flags are those of FS_IOC_SHUTDOWN: 0 flushes all
// first, 1 the file system's log, 2 nothing. It needs root, and ext4 or XFS.
func PowerCut(dir string, flags uint32) (func() error, error) {
	d, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	return func() error {
		defer d.Close()
		if err := unix.IoctlSetPointerInt(int(d.Fd()), fsIocShutdown, int(flags)); err != nil {
			return fmt.Errorf("FS_IOC_SHUTDOWN: %w", err)
		}
		return nil
	}, nil
}

// Limits are what a process may have no more of; 0 is no limit.
type Limits struct {
	Files uint64 // open files
	Space uint64 // bytes of address space beyond those in use
	Size  uint64 // bytes of a file
	Maps  int    // mappings, about
}

// Set sets the limits of this process.
func (l Limits) Set() error {
	for _, x := range []struct {
		what int
		to   uint64
	}{{unix.RLIMIT_NOFILE, l.Files}, {unix.RLIMIT_FSIZE, l.Size}} {
		if x.to == 0 {
			continue
		}
		if err := unix.Setrlimit(x.what, &unix.Rlimit{Cur: x.to, Max: x.to}); err != nil {
			return err
		}
	}
	if l.Space > 0 {
		var size, rest uint64
		b, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(b), &size, &rest); err != nil {
			return err
		}
		to := size*uint64(os.Getpagesize()) + l.Space
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: to, Max: to}); err != nil {
			return err
		}
	}
	if l.Maps > 0 {
		return burnMaps(l.Maps)
	}
	return nil
}

// burnMaps takes mappings until the system refuses, and gives left of them back.
func burnMaps(left int) error {
	page := os.Getpagesize()
	const n = 1 << 17
	b, err := unix.Mmap(-1, 0, n*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	// Each second page gets other rights, which makes two mappings more.
	for i := 0; i < n; i += 2 {
		if err := unix.Mprotect(b[i*page:(i+1)*page], unix.PROT_READ); err != nil {
			for k := 0; k < left && i-2*k > 2; k += 2 {
				if err := unix.Mprotect(b[(i-2-k)*page:(i-1-k)*page], unix.PROT_NONE); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return fmt.Errorf("%d mappings were no limit", n)
}
