package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var sizeUnits = []struct {
	name string // as it is compared, in lower case
	show string
	size int64 // bytes
}{
	{"tib", "TiB", 1 << 40}, {"tb", "TB", 1e12},
	{"gib", "GiB", 1 << 30}, {"gb", "GB", 1e9},
	{"mib", "MiB", 1 << 20}, {"mb", "MB", 1e6},
	{"kib", "KiB", 1 << 10}, {"kb", "kB", 1e3},
	{"b", "B", 1}, {"", "", 1},
}

// ParseSize reads a number of bytes, at least 0: 10GiB (2³⁰ each), 10GB (10⁹ each),
// 1.5MiB, 4096. A lone G is refused, since people differ on which one it is.
func ParseSize(s string) (int64, error) {
	number, unit, ok := splitNumber(s)
	if !ok || number[0] == '-' {
		return 0, badSize(s)
	}
	unit = strings.ToLower(strings.TrimSpace(unit))
	for _, u := range sizeUnits {
		if u.name != unit {
			continue
		}
		n, err := scaled(number, u.size)
		if errors.Is(err, ErrFiner) {
			return 0, fmt.Errorf("size %q is not a whole number of bytes", s)
		}
		if err != nil {
			return 0, fmt.Errorf("size %q: %w", s, err)
		}
		return n, nil
	}
	return 0, badSize(s)
}

func badSize(s string) error {
	return fmt.Errorf("%q is not a size: write bytes, or a number with kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024)", s)
}

// FormatSize writes n bytes, at least 0, for a person: about three digits and a
// power of 1024.
func FormatSize(n int64) string {
	for _, u := range sizeUnits {
		if !strings.HasSuffix(u.name, "ib") || n < u.size {
			continue
		}
		v := float64(n) / float64(u.size)
		prec := 2
		for p := 10.0; v >= p && prec > 0; p *= 10 {
			prec--
		}
		return strconv.FormatFloat(v, 'f', prec, 64) + " " + u.show
	}
	return strconv.FormatInt(n, 10) + " B"
}
