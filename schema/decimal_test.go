package schema

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestFormatDecimal(t *testing.T) {
	for _, c := range []struct {
		v     int64
		scale uint8
		want  string
	}{
		{0, 0, "0"}, {0, 2, "0.00"}, {-1, 0, "-1"}, {1, 2, "0.01"}, {-1, 2, "-0.01"}, {-100, 2, "-1.00"},
		{6412350, 2, "64123.50"}, {5, 18, "0.000000000000000005"}, {10, 1, "1.0"}, {99, 1, "9.9"},
		{math.MaxInt64, 0, "9223372036854775807"}, {math.MinInt64, 0, "-9223372036854775808"},
		{math.MaxInt64, 18, "9.223372036854775807"}, {math.MinInt64, 18, "-9.223372036854775808"},
		{math.MinInt64, 1, "-922337203685477580.8"},
	} {
		if got := FormatDecimal(c.v, c.scale); got != c.want {
			t.Errorf("FormatDecimal(%d, %d) = %q, want %q", c.v, c.scale, got, c.want)
		}
		if got := string(AppendDecimal([]byte("x"), c.v, c.scale)); got != "x"+c.want {
			t.Errorf("AppendDecimal(%d, %d) = %q, want x%s", c.v, c.scale, got, c.want)
		}
	}
	for scale, want := range map[uint8]string{0: "18446744073709551615", 2: "184467440737095516.15", 18: "18.446744073709551615"} {
		if got := string(AppendDecimalUint(nil, math.MaxUint64, scale)); got != want {
			t.Errorf("AppendDecimalUint(max, %d) = %q, want %q", scale, got, want)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	top := uint64(math.MaxUint64)
	for _, c := range []struct {
		text  string
		kind  Kind
		scale uint8
		want  int64
	}{
		{"0", I8, 0, 0}, {"-0", I8, 0, 0}, {"-0.00", U8, 2, 0}, {"+7", I8, 0, 7}, {"007", U8, 0, 7},
		{"64123.50", I32, 2, 6412350}, {"64123.5", I32, 2, 6412350}, {"64123", I32, 2, 6412300},
		{"-0.01", I32, 2, -1}, {"0.01", I32, 2, 1}, {"-1.28", I8, 2, -128}, {"1.27", I8, 2, 127}, {"2.55", U8, 2, 255},
		{"-9223372036854775808", I64, 0, math.MinInt64}, {"9223372036854775807", I64, 0, math.MaxInt64},
		{"-9.223372036854775808", I64, 18, math.MinInt64}, {"9.223372036854775807", I64, 18, math.MaxInt64},
		{"9223372036854775808", U64, 0, math.MinInt64}, {"18446744073709551615", U64, 0, int64(top)},
		{"18.446744073709551615", U64, 18, int64(top)}, {"184467440737095516.15", U64, 2, int64(top)},
		{strings.Repeat("0", 500) + "1.5", U8, 1, 15},
	} {
		if got, err := ParseDecimal(c.text, c.kind, c.scale); got != c.want || err != nil {
			t.Errorf("ParseDecimal(%q, %v, %d) = %d, %v, want %d", c.text, c.kind, c.scale, got, err, c.want)
		}
	}
	for _, c := range []struct {
		text  string
		kind  Kind
		scale uint8
		want  error
	}{
		{"128", I8, 0, ErrRange}, {"-129", I8, 0, ErrRange}, {"1.28", I8, 2, ErrRange}, {"256", U8, 0, ErrRange},
		{"-1", U8, 0, ErrRange}, {"-0.01", U64, 2, ErrRange}, {"70000", U16, 0, ErrRange}, {"21474836.48", I32, 2, ErrRange},
		{"9223372036854775808", I64, 0, ErrRange}, {"-9223372036854775809", I64, 0, ErrRange},
		{"18446744073709551616", U64, 0, ErrRange}, {"184467440737095516.16", U64, 2, ErrRange},
		{"18446744073709551616", I64, 0, ErrRange}, {"1844674407370955161600000001", U64, 0, ErrRange},
		{"10", I64, 18, ErrRange}, {"19", U64, 18, ErrRange}, {strings.Repeat("9", 5000), U64, 0, ErrRange},
		{"0.001", I32, 2, ErrRange}, {"64123.500", I32, 2, ErrRange}, {"5.0", I32, 0, ErrRange}, {"0.0000000000000000001", I64, 18, ErrRange},
		{"", I32, 2, ErrDecimal}, {"-", I32, 2, ErrDecimal}, {"+", I32, 2, ErrDecimal}, {".", I32, 2, ErrDecimal},
		{".5", I32, 2, ErrDecimal}, {"5.", I32, 2, ErrDecimal}, {"-.5", I32, 2, ErrDecimal}, {"1.2.3", I32, 2, ErrDecimal},
		{"1e5", I32, 2, ErrDecimal}, {"1E5", I32, 2, ErrDecimal}, {"1.5e-1", I32, 2, ErrDecimal}, {"0x10", I32, 0, ErrDecimal},
		{"1_000", I32, 0, ErrDecimal}, {"1,000", I32, 0, ErrDecimal}, {"1,5", I32, 2, ErrDecimal}, {" 1", I32, 0, ErrDecimal},
		{"1 ", I32, 0, ErrDecimal}, {"1\n", I32, 0, ErrDecimal}, {"--1", I32, 0, ErrDecimal}, {"+-1", I32, 0, ErrDecimal},
		{"1-", I32, 0, ErrDecimal}, {"NaN", I32, 0, ErrDecimal}, {"inf", I32, 0, ErrDecimal}, {"١", I32, 0, ErrDecimal},
		{"−1", I32, 0, ErrDecimal}, {"1/2", I32, 2, ErrDecimal}, {"1:", I32, 2, ErrDecimal}, {strings.Repeat("9", 5000) + "x", U64, 0, ErrDecimal},
		{"1.+5", I32, 2, ErrDecimal}, {"0.00e", I32, 2, ErrDecimal},
		{"1", 0, 0, ErrSchema}, {"1", 9, 0, ErrSchema}, {"1", I64, 19, ErrSchema},
	} {
		got, err := ParseDecimal(c.text, c.kind, c.scale)
		if got != 0 || !errors.Is(err, c.want) || len(err.Error()) > 250 {
			t.Errorf("ParseDecimal(%.40q, %v, %d) = %d, %v, want %v", c.text, c.kind, c.scale, got, err, c.want)
		}
	}
}

var decimalText = regexp.MustCompile(`^[+-]?([0-9]+)(\.[0-9]+)?$`)

// model is ParseDecimal in exact fractions: what a reader would do by hand.
func model(s string, kind Kind, scale uint8) (int64, error) {
	m := decimalText.FindStringSubmatch(s)
	if m == nil {
		return 0, ErrDecimal
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, ErrDecimal
	}
	v.Mul(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	low, high := bounds(kind)
	if len(m[2]) > int(scale)+1 || !v.IsInt() || v.Num().Cmp(low) < 0 || v.Num().Cmp(high) > 0 {
		return 0, ErrRange
	}
	if kind == U64 {
		return int64(v.Num().Uint64()), nil
	}
	return v.Num().Int64(), nil
}

// FuzzParseDecimal compares with the model, and what is accepted is printed as
// what is read the same again.
func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"64123.50", "-0.01", "1e5", ".5", "5.", "99999999999999999999", "18446744073709551615", "-9.223372036854775808", "1.005"} {
		f.Add(s, uint8(I32), uint8(2))
		f.Add(s, uint8(U64), uint8(0))
		f.Add(s, uint8(I64), uint8(18))
	}
	f.Fuzz(func(t *testing.T, s string, k, scale uint8) {
		kind := I8 + Kind(k%8)
		scale %= ScaleMax + 1
		compare(t, s, kind, scale)
	})
}

func compare(t *testing.T, s string, kind Kind, scale uint8) (accepted bool) {
	got, err := ParseDecimal(s, kind, scale)
	want, wantErr := model(s, kind, scale)
	if got != want || !errors.Is(err, wantErr) {
		t.Fatalf("ParseDecimal(%q, %v, %d) = %d, %v, want %d, %v", s, kind, scale, got, err, want, wantErr)
	}
	if err != nil {
		return false
	}
	field := Field{"f", kind, scale}
	text := string(field.AppendValue(nil, got))
	if again, err := field.ParseValue(text); again != got || err != nil {
		t.Fatalf("%q is %d, printed as %q, read as %d, %v", s, got, text, again, err)
	}
	return true
}

// TestDecimalAgainstModel: numbers near the edges of all kinds, at all scales,
// with a digit more or less.
func TestDecimalAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	accepted := 0
	const n = 20000
	for range n {
		kind, scale := I8+Kind(rng.IntN(8)), uint8(rng.IntN(ScaleMax+1))
		low, high := bounds(kind)
		v := new(big.Int).SetUint64(number(rng))
		switch rng.IntN(3) {
		case 0:
			v.Add(high, big.NewInt(rng.Int64N(5)-2))
		case 1:
			v.Add(low, big.NewInt(rng.Int64N(5)-2))
		}
		digits := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		s := digits.FloatString(max(0, int(scale)+rng.IntN(4)-2))
		if rng.IntN(4) == 0 {
			s = TrimZeros(s)
		}
		if compare(t, s, kind, scale) {
			accepted++
		}
	}
	if accepted < n/10 || accepted > n*9/10 {
		t.Fatalf("%d of %d accepted: the test tests one side only", accepted, n)
	}
}

func TestTrimZeros(t *testing.T) {
	for text, want := range map[string]string{
		"64123.50000000": "64123.5", "61837.00000000": "61837", "0.000": "0", "-0.50": "-0.5", "100": "100", "1.05": "1.05",
		"": "", ".": ".", "5.": "5.", "1.50e10": "1.50e10", "1.5.0": "1.5.0", "x.y0": "x.y0", "0.10 ": "0.10 ",
	} {
		if got := TrimZeros(text); got != want {
			t.Errorf("TrimZeros(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestValues reads and prints edges of every kind as the field that holds them.
func TestValues(t *testing.T) {
	for k := I8; k <= U64; k++ {
		for scale := range uint8(ScaleMax + 1) {
			f := Field{"f", k, scale}
			low, high := bounds(k)
			for _, v := range []*big.Int{low, high} {
				text := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(int(scale))
				bits, err := f.ParseValue(text)
				if err != nil {
					t.Fatalf("%v: %q: %v", f, text, err)
				}
				if got := string(f.AppendValue(nil, bits)); got != text {
					t.Errorf("%v: %q is printed as %q", f, text, got)
				}
				s, err := New(0, f)
				if err != nil {
					t.Fatal(err)
				}
				rec := make([]byte, s.Width())
				if err := s.PutBits(rec, 0, bits); err != nil || s.Int(rec, 0) != bits || naive(s, rec, 0).Cmp(v) != 0 {
					t.Errorf("%v: %q is stored as %v, %v", f, text, naive(s, rec, 0), err)
				}
				if more := text + "9"; more != "09" { // for a whole 0 that is another number
					if _, err := f.ParseValue(more); !errors.Is(err, ErrRange) {
						t.Errorf("%v: %q: %v, want ErrRange", f, more, err)
					}
				}
			}
		}
	}
}
