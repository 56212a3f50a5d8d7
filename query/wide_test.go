package query

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var edges = []uint64{0, 1, 2, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<63 + 1, 1 << 32, 1<<31 - 1}

func edgy() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.SampledFrom(edges), rapid.Uint64())
}

func bigBits(v uint64, isSigned bool) *big.Int {
	if isSigned {
		return big.NewInt(int64(v))
	}
	return new(big.Int).SetUint64(v)
}

// TestWide does the same sums with wide and with math/big.
func TestWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w wide
		want := new(big.Int)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			a, b := edgy().Draw(t, "a"), edgy().Draw(t, "b")
			as, bs := rapid.Bool().Draw(t, "a signed"), rapid.Bool().Draw(t, "b signed")
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				w.addMul(a, b, as, bs)
				want.Add(want, new(big.Int).Mul(bigBits(a, as), bigBits(b, bs)))
			case 1:
				w.add(wideBits(a, as))
				want.Add(want, bigBits(a, as))
			case 2:
				w.addInt(int64(a))
				want.Add(want, big.NewInt(int64(a)))
			}
			if w.big().Cmp(want) != 0 || w.sign() != want.Sign() || wideBig(want) != w {
				t.Fatalf("got %v (sign %d), want %v", w.big(), w.sign(), want)
			}
			if n := w.neg(); n.big().Cmp(new(big.Int).Neg(want)) != 0 {
				t.Fatalf("-%v = %v", want, n.big())
			}
			o := wideBits(b, bs)
			if w.cmp(o) != want.Cmp(o.big()) || o.cmp(w) != o.big().Cmp(want) {
				t.Fatalf("%v against %v: %d", want, o.big(), w.cmp(o))
			}
			v, ok := w.int64()
			if ok != want.IsInt64() || ok && v != want.Int64() {
				t.Fatalf("%v as int64: %d, %v", want, v, ok)
			}
		}
	})
}
