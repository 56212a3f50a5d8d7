package schema

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// naive reads a field from its bytes, one by one, in a number of any size.
func naive(s *Schema, rec []byte, i int) *big.Int {
	f, v := s.Field(i), new(big.Int)
	for j := f.Kind.Size() - 1; j >= 0; j-- {
		v.Lsh(v, 8)
		v.Or(v, big.NewInt(int64(rec[s.Offset(i)+j])))
	}
	if top := uint(8*f.Kind.Size() - 1); f.Kind.Signed() && v.Bit(int(top)) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), top+1))
	}
	return v
}

// bounds returns the smallest and the largest value of a kind.
func bounds(k Kind) (low, high *big.Int) {
	bits := uint(8 * k.Size())
	low, high = new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if k.Signed() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	return low, high.Sub(high, big.NewInt(1))
}

// number returns values from all magnitudes, and often from the edges of kinds.
func number(rng *rand.Rand) uint64 {
	v := rng.Uint64() >> rng.IntN(64)
	if rng.IntN(2) == 0 {
		v = uint64(1)<<rng.IntN(64) + uint64(rng.IntN(3)) - 1
	}
	if rng.IntN(2) == 0 {
		v = -v
	}
	return v
}

// TestPutAgainstModel writes random values to random fields. What fits must be
// read back by the naive reader and change no other byte; what doesn't must be
// refused and change nothing.
func TestPutAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	refused, taken := 0, 0
	for range 20000 {
		s := random(t, rng)
		if s.NumFields() == 0 {
			continue
		}
		rec := make([]byte, s.Width())
		for i := range rec {
			rec[i] = byte(rng.Uint32())
		}
		before := bytes.Clone(rec)
		i, u := rng.IntN(s.NumFields()), number(rng)
		f := s.Field(i)
		var err error
		want := new(big.Int)
		switch rng.IntN(3) {
		case 0:
			want.SetInt64(int64(u))
			err = s.PutInt(rec, i, int64(u))
		case 1:
			want.SetUint64(u)
			err = s.PutUint(rec, i, u)
		case 2:
			if want.SetInt64(int64(u)); f.Kind == U64 {
				want.SetUint64(u)
			}
			err = s.PutBits(rec, i, int64(u))
		}
		low, high := bounds(f.Kind)
		if want.Cmp(low) < 0 || want.Cmp(high) > 0 {
			refused++
			re, ok := errors.AsType[*RangeError](err)
			if !ok || !errors.Is(err, ErrRange) || re.Field != f.Name || re.Kind != f.Kind || re.Value != want.String() {
				t.Fatalf("%v of %v: %v, want a RangeError", want, f, err)
			}
			if !bytes.Equal(rec, before) {
				t.Fatalf("%v of %v was refused, but the record changed", want, f)
			}
			continue
		}
		taken++
		if err != nil {
			t.Fatalf("%v of %v: %v", want, f, err)
		}
		if got := naive(s, rec, i); got.Cmp(want) != 0 {
			t.Fatalf("%v of %v is read as %v", want, f, got)
		}
		copy(rec[s.Offset(i):], before[s.Offset(i):s.Offset(i)+f.Kind.Size()])
		if !bytes.Equal(rec, before) {
			t.Fatalf("%v of %v changed bytes outside the field", want, f)
		}
	}
	if refused < 1000 || taken < 1000 {
		t.Fatalf("%d refused and %d taken: the test tests too little", refused, taken)
	}
}

// TestGetAgainstModel reads every field of random bytes in both ways.
func TestGetAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		s := random(t, rng)
		rec := make([]byte, s.Width())
		for i := range rec {
			rec[i] = byte(rng.Uint32())
		}
		for i, f := range s.Fields() {
			want := naive(s, rec, i)
			bits := want.Int64()
			if f.Kind == U64 {
				bits = int64(want.Uint64())
			}
			if got := s.Int(rec, i); got != bits {
				t.Fatalf("%v: Int of %v = %d, want %d", s, f, got, bits)
			}
			if got := s.Uint(rec, i); got != uint64(bits) {
				t.Fatalf("%v: Uint of %v = %d, want %d", s, f, got, uint64(bits))
			}
		}
	}
}

// TestClearPaddingAgainstModel clears padding byte by byte beside the real one,
// over 0 to 5 records and a piece of another.
func TestClearPaddingAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	cleared := 0
	for range 3000 {
		s := random(t, rng)
		rows := rng.IntN(6)
		whole := rows * s.Width()
		// The bytes behind recs belong to somebody else.
		all := make([]byte, whole+s.Width())
		for i := range all {
			all[i] = byte(1 + rng.IntN(255))
		}
		data := make([]bool, s.Width())
		for i := range headSize {
			data[i] = true
		}
		for i, f := range s.Fields() {
			for j := range f.Kind.Size() {
				data[s.Offset(i)+j] = true
			}
		}
		want := bytes.Clone(all)
		for i := range whole {
			if !data[i%s.Width()] {
				want[i] = 0
				cleared++
			}
		}
		s.ClearPadding(all[:whole+rng.IntN(s.Width())])
		if !bytes.Equal(all, want) {
			t.Fatalf("%v, %d rows:\n got %x\nwant %x", s, rows, all, want)
		}
	}
	fill(t).ClearPadding(nil)
	if cleared == 0 {
		t.Fatal("no schema had padding")
	}
}

func TestHead(t *testing.T) {
	rec := bytes.Repeat([]byte{0xee}, 24)
	PutSeq(rec, 0x0807060504030201)
	PutTime(rec, math.MinInt64+1)
	if Seq(rec) != 0x0807060504030201 || Time(rec) != math.MinInt64+1 {
		t.Errorf("seq %#x, ts %d", Seq(rec), Time(rec))
	}
	want := append([]byte{1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 0, 0, 0, 0x80}, bytes.Repeat([]byte{0xee}, 8)...)
	if !bytes.Equal(rec, want) {
		t.Errorf("record %x, want %x", rec, want)
	}
}

// TestPanics: what can only be a mistake of the program isn't passed over.
func TestPanics(t *testing.T) {
	s, rec := fill(t), make([]byte, 40)
	for name, f := range map[string]func(){
		"field -1":   func() { s.Int(rec, -1) },
		"no field":   func() { s.Int(rec, 7) },
		"short read": func() { s.Uint(rec[:39], 6) },
		"short put":  func() { _ = s.PutInt(rec[:16], 0, 1) },
		"put":        func() { _ = s.PutUint(rec, 7, 1) },
		"offset":     func() { s.Offset(7) },
		"head":       func() { Time(rec[:15]) },
		"scale":      func() { FormatDecimal(1, 19) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestAllocs: reading and writing what fits doesn't allocate.
func TestAllocs(t *testing.T) {
	s, rec := fill(t), make([]byte, 80)
	if n := testing.AllocsPerRun(100, func() {
		_ = s.PutInt(rec, 0, 5)
		_ = s.PutUint(rec, 4, 5)
		PutSeq(rec, uint64(s.Int(rec, 0))+s.Uint(rec, 4))
		s.ClearPadding(rec)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRangeError(t *testing.T) {
	s := fill(t)
	rec := make([]byte, s.Width())
	u64 := Field{"id", U64, 0}
	parse := func(f Field, text string) error { _, err := f.ParseValue(text); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{s.PutInt(rec, 4, 70000), "ledger: sym: 70000 does not fit u16 (0 to 65535)"},
		{s.PutInt(rec, 5, -1), "ledger: side: -1 does not fit u8 (0 to 255)"},
		{s.PutInt(rec, 0, 1<<31), "ledger: px: 2147483648 does not fit i32 (-2147483648 to 2147483647)"},
		{s.PutUint(rec, 1, math.MaxUint64), "ledger: qty: 18446744073709551615 does not fit i32 (-2147483648 to 2147483647)"},
		{parse(s.Field(0), "99999999.99"), "ledger: px: 99999999.99 does not fit i32 with 2 decimals (-21474836.48 to 21474836.47)"},
		{parse(s.Field(0), "1.005"), "ledger: px: 1.005 has more than 2 decimals"},
		{parse(s.Field(1), "1.5"), "ledger: qty: 1.5 has decimals, the field has none"},
		{parse(Field{"p", I8, 1}, "1.55"), "ledger: p: 1.55 has more than 1 decimal"},
		{parse(u64, "-1"), "ledger: id: -1 does not fit u64 (0 to 18446744073709551615)"},
		{&RangeError{Kind: I8, Value: "200"}, "ledger: 200 does not fit i8 (-128 to 127)"},
		{&RangeError{Kind: 0, Value: "200", Scale: 99}, "ledger: 200 does not fit kind(0) with 99 decimals"},
	} {
		if c.err == nil || c.err.Error() != c.want || !errors.Is(c.err, ErrRange) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if err := parse(s.Field(0), "1e5"); !errors.Is(err, ErrDecimal) || err.Error() != `ledger: not a decimal number: "1e5", for px` {
		t.Errorf("%v, want ErrDecimal", err)
	}
}
