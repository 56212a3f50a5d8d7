// Package source makes the records that every engine is given: 40-byte fills,
// the same at every run.
package source

import (
	"encoding/binary"
	"math/rand/v2"
	"sort"

	"example.com/ledger/shapes"
)

const (
	// Width is the size of a record, in bytes.
	Width = 40
	// Begin is the time of record 0, in nanoseconds since 1970, at a full minute.
	Begin = int64(1_700_000_000) / 60 * 60 * 1e9
	// Step is the time between two records, in nanoseconds.
	Step = int64(1e6)
	// Price is the middle of the prices, in hundredths.
	Price = 6412350
	// Symbols is how many instruments there are; lower numbers trade more often.
	Symbols = 64
	// Accounts is how many takers and makers there are.
	Accounts = 1000

	offTime, offPx, offQty, offTaker, offMaker, offSym, offSide, offFlags = 8, 16, 20, 24, 28, 32, 34, 35
)

// A Generator makes fills one behind the other, the same ones every time.
type Generator struct {
	r    *rand.Rand
	syms [1 << 16]uint16
	next int64
}

// NewGenerator begins at record 0.
func NewGenerator() *Generator {
	g := &Generator{r: rand.New(rand.NewPCG(1, 2))}
	var sum [Symbols]float64 // Zipf: symbol k trades with weight 1/(k+1)
	total := 0.0
	for k := range sum {
		total += 1 / float64(k+1)
		sum[k] = total
	}
	for i := range g.syms {
		g.syms[i] = uint16(sort.SearchFloat64s(sum[:], (float64(i)+.5)/float64(len(g.syms))*total))
	}
	return g
}

// Fill writes the next records into b, whose length is a multiple of Width.
// Their seq is zero.
func (g *Generator) Fill(b []byte) {
	le := binary.LittleEndian
	for ; len(b) >= Width; b = b[Width:] {
		u, v := g.r.Uint64(), g.r.Uint64()
		rec := b[:Width:Width]
		clear(rec)
		le.PutUint64(rec[offTime:], uint64(Begin+g.next*Step))
		le.PutUint32(rec[offPx:], uint32(Price+int32(u&0x7ff)+int32(u>>11&0x7ff)-2047))
		le.PutUint32(rec[offQty:], uint32(1+int32(u>>22&0xffff)*50>>16))
		le.PutUint32(rec[offTaker:], uint32((v&0xffffffff)*Accounts>>32))
		le.PutUint32(rec[offMaker:], uint32((v>>32)*Accounts>>32))
		le.PutUint16(rec[offSym:], g.syms[u>>48])
		rec[offSide] = uint8(u >> 40 & 1)
		rec[offFlags] = uint8(u>>41) & shapes.FlagHidden
		g.next++
	}
}

// Time reads a record's time.
func Time(rec []byte) int64 { return int64(binary.LittleEndian.Uint64(rec[offTime:])) }

// Quantity reads a record's quantity.
func Quantity(rec []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(rec[offQty:]))) }

// A Ring hands out made records again and again, with new times: what it costs
// is the same for every engine, and little.
type Ring struct {
	recs []byte
	at   int
	time int64
}

// NewRing makes a ring for batches of that many records. It is small enough for
// a processor's own cache where the batch is.
func NewRing(batch int) *Ring {
	r := &Ring{recs: make([]byte, max(1024, 4*batch)/batch*batch*Width), time: Begin}
	NewGenerator().Fill(r.recs)
	return r
}

// Next returns the next n records, n being what NewRing was told. They are valid
// until the ring has come round, and may be changed.
func (r *Ring) Next(n int) []byte {
	end := r.at + n*Width
	if end > len(r.recs) {
		r.at, end = 0, n*Width
	}
	b := r.recs[r.at:end:end]
	r.at = end
	t := r.time
	for i := offTime; i+8 <= len(b); i += Width {
		binary.LittleEndian.PutUint64(b[i:], uint64(t))
		t += Step
	}
	r.time = t
	return b
}
