package journal

import "hash/crc32"

// sums gives the checksum of any run of bytes in a time that does not grow with
// its length.
//
// Behind the stop stand bytes of a journal's older lives, and these are records:
// whoever chose their fields may have chosen what looks like the heads of a
// million long frames. Summing each of them would take a time that grows with
// the square of the file.
//
// A checksum is a polynomial over GF(2) modulo the CRC's, and the checksum of a
// run follows from those of two prefixes: of(seed, [a,b)) is that of [0,b), plus
// seed + that of [0,a), moved on by the run's length in zeros.
type sums struct {
	data   []byte
	prefix []uint32 // at i: checksum of the first i*sumStep bytes
}

const sumStep = 256

func newSums(data []byte) *sums {
	s := &sums{data: data, prefix: make([]uint32, len(data)/sumStep+1)}
	for i := 1; i < len(s.prefix); i++ {
		s.prefix[i] = crc32.Update(s.prefix[i-1], castagnoli, data[(i-1)*sumStep:i*sumStep])
	}
	return s
}

// of returns the checksum of data[from:to) that goes on from seed.
func (s *sums) of(seed uint32, from, to int64) uint32 {
	return s.upTo(to) ^ advance(s.upTo(from)^seed, uint64(to-from))
}

func (s *sums) upTo(n int64) uint32 {
	i := n / sumStep
	return crc32.Update(s.prefix[i], castagnoli, s.data[i*sumStep:n])
}

// zeroPowers has at k what a checksum is multiplied by to move on over 2^k zero
// bytes: x to the power of 8·2^k. A polynomial's lowest power is its highest bit.
var zeroPowers = func() (z [64]uint32) {
	z[0] = 1 << (31 - 8)
	for k := 1; k < len(z); k++ {
		z[k] = multiply(z[k-1], z[k-1])
	}
	return z
}()

// advance moves a checksum on over n zero bytes.
func advance(sum uint32, n uint64) uint32 {
	for k := 0; n != 0; k, n = k+1, n>>1 {
		if n&1 != 0 {
			sum = multiply(sum, zeroPowers[k])
		}
	}
	return sum
}

// multiply returns a·b modulo the CRC's polynomial.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return product
}
