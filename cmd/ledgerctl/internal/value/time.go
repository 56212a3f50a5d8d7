package value

import (
	"errors"
	"strings"

	"example.com/ledger/query"
	"example.com/ledger/schema"
)

// ParseTime reads a point in time into the unit u: RFC 3339, a date (its first
// instant in UTC), a number with one of the units ns, us, ms and s (counted from
// 1970), or a bare number, which is in u itself and must lie between 1970 and
// 2200. A time finer than u is an error. It is how conditions read times, too.
func ParseTime(s string, u schema.Unit) (int64, error) {
	ts, err := query.ParseTime(u, s)
	return ts, withoutPackage(err)
}

// ParseBound reads a time like ParseTime, but rounds a finer one up. So both ends
// of a half-open range keep exactly the times that they mean.
func ParseBound(s string, u schema.Unit) (int64, error) {
	ts, err := query.ParseBound(u, s)
	return ts, withoutPackage(err)
}

// withoutPackage takes the package's name off a text that a person reads.
func withoutPackage(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "query: "))
}
