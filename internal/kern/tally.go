package kern

import "math/bits"

// A Cell holds the sums of the records of one key. The assembly knows its layout.
type Cell struct {
	Q  int64  // the sum of quantities
	Lo uint64 // of the sum of prices times quantities
	N  int64  // records
	Hi uint64 // of the same sum, where it has 128 bits; else unused
}

// A Candle is a Cell with the prices met. The assembly knows its layout.
type Candle struct {
	Cell
	High   int64
	NotLow int64 // ^ of the lowest: the largest of these
	Open   int64
	Close  int64
}

// TableSize is the number of cells of a table: one for every key.
const TableSize = 1 << 16

// TallyCells adds records to the cells of their keys. Sums of products wrap: the
// caller must know that they fit int64.
func TallyCells[T int32 | int64](tab *[TableSize]Cell, keys []uint16, p, q []T) {
	p, q = p[:len(keys)], q[:len(keys)]
	n := tallyCellsFast(tab, keys, p, q)
	keys, p, q = keys[n:], p[n:], q[n:]
	p, q = p[:len(keys)], q[:len(keys)]
	for i, k := range keys {
		c := &tab[k]
		y := int64(q[i])
		c.N++
		c.Q += y
		c.Lo += uint64(int64(p[i]) * y)
	}
}

// TallyCandles adds records, in order, to the candles of their keys, as TallyCells.
func TallyCandles[T int32 | int64](tab *[TableSize]Candle, keys []uint16, p, q []T) {
	p, q = p[:len(keys)], q[:len(keys)]
	n := tallyCandlesFast(tab, keys, p, q)
	keys, p, q = keys[n:], p[n:], q[n:]
	p, q = p[:len(keys)], q[:len(keys)]
	for i, k := range keys {
		c := &tab[k]
		x, y := int64(p[i]), int64(q[i])
		c.price(x)
		c.N++
		c.Q += y
		c.Lo += uint64(x * y)
	}
}

func (c *Candle) price(x int64) {
	if c.N == 0 {
		c.Open, c.High, c.NotLow = x, x, ^x
	}
	c.High = max(c.High, x)
	c.NotLow = max(c.NotLow, ^x)
	c.Close = x
}

// TallyCellsWide is TallyCells with sums of products of 128 bits.
func TallyCellsWide(tab *[TableSize]Cell, keys []uint16, p, q []int64) {
	p, q = p[:len(keys)], q[:len(keys)]
	for i, k := range keys {
		tab[k].addWide(p[i], q[i])
	}
}

// TallyCandlesWide is TallyCandles with sums of products of 128 bits.
func TallyCandlesWide(tab *[TableSize]Candle, keys []uint16, p, q []int64) {
	p, q = p[:len(keys)], q[:len(keys)]
	for i, k := range keys {
		c := &tab[k]
		c.price(p[i])
		c.addWide(p[i], q[i])
	}
}

func (c *Cell) addWide(x, y int64) {
	hi, lo := MulSigned(uint64(x), uint64(y))
	var carry uint64
	c.Lo, carry = bits.Add64(c.Lo, lo, 0)
	c.Hi, _ = bits.Add64(c.Hi, hi, carry)
	c.N++
	c.Q += y
}

// MulSigned returns the 128 bits of the product of two signed numbers.
func MulSigned(x, y uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(x, y)
	hi -= uint64(int64(x)>>63)&y + uint64(int64(y)>>63)&x
	return hi, lo
}
