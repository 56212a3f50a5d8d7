// Package value reads what a person types and writes what a person reads: times,
// durations and sizes. Decimals are package schema's.
//
// Its functions keep no state and may be called by any number of goroutines.
package value

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrFiner: the value has digits that the unit or the scale can't hold.
var ErrFiner = errors.New("more digits than can be kept")

// numberMax is the length of the longest number that is looked at, in bytes. A
// longer one can't be a time, a size or a duration.
const numberMax = 64

// splitNumber cuts s after the number that it begins with: an optional minus
// sign, digits, and at most one point between digits.
func splitNumber(s string) (number, rest string, ok bool) {
	i, digits, point := 0, 0, false
	if i < len(s) && s[i] == '-' {
		i++
	}
scan:
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && !point && digits > 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			point = true
		default:
			break scan
		}
	}
	if digits == 0 || i > numberMax {
		return "", s, false
	}
	return s[:i], s[i:], true
}

// scaled returns number × unit. The result is exact, or it is ErrFiner.
func scaled(number string, unit int64) (int64, error) {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("%q is not a number", number)
	}
	r.Mul(r, big.NewRat(unit, 1))
	if !r.IsInt() {
		return 0, ErrFiner
	}
	if !r.Num().IsInt64() {
		return 0, fmt.Errorf("%s is beyond 64 bits", number)
	}
	return r.Num().Int64(), nil
}

// addChecked returns a + b, and false where it does not fit.
func addChecked(a, b int64) (int64, bool) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, false
	}
	return a + b, true
}
