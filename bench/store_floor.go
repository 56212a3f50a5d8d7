//go:build !duckdb

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"example.com/ledger/bench/internal/engine"
)

// storeFloor is the row of what the machine itself takes for the same: files of
// 28 bytes a record, 65,536 in each.
const storeFloor = "floor: system calls and loads"

func init() { cells["store floor"] = storeFloorCell }

// columnSizes are those of a fill's columns: ts and seven fields.
var columnSizes = []int{8, 4, 4, 4, 4, 2, 1, 1}

// storeFloorCell opens each file and reads its first 64 bytes; loads one value of
// each column of records at random; and unlinks the older half of the files.
func storeFloorCell(s spec) (outcome, error) {
	d, err := os.Open(s.Dir)
	if err != nil {
		return outcome{}, err
	}
	defer d.Close()
	n := int(s.Records / 65536)
	image := make([]byte, engine.SealedBytes)
	for i := range image {
		image[i] = byte(i >> 3)
	}
	for i := range n {
		if err := engine.WriteFile(d, fmt.Sprint(i), image, false); err != nil {
			return outcome{}, err
		}
	}
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return outcome{}, err
	}
	m := map[string]float64{}
	var head [64]byte
	t := time.Now()
	for i := range n {
		f, err := os.Open(filepath.Join(s.Dir, fmt.Sprint(i)))
		if err != nil {
			return outcome{}, err
		}
		if _, err := f.ReadAt(head[:], 0); err != nil {
			return outcome{}, err
		}
		f.Close()
	}
	m["open"] = float64(time.Since(t))
	if m["random read"], err = randomLoads(s, n); err != nil {
		return outcome{}, err
	}
	t = time.Now()
	for i := range n / 2 {
		if err := os.Remove(filepath.Join(s.Dir, fmt.Sprint(i))); err != nil {
			return outcome{}, err
		}
	}
	m["drop half"] = float64(time.Since(t))
	return outcome{Figures: m}, nil
}

// randomLoads maps n files, touches all of their lines, and loads the values of
// records at random for a while: nanoseconds a record.
func randomLoads(s spec, n int) (float64, error) {
	columns := make([][][]byte, n)
	var sum uint64
	for i := range n {
		f, err := os.Open(filepath.Join(s.Dir, fmt.Sprint(i)))
		if err != nil {
			return 0, err
		}
		b, err := unix.Mmap(int(f.Fd()), 0, engine.SealedBytes, unix.PROT_READ, unix.MAP_SHARED)
		f.Close()
		if err != nil {
			return 0, err
		}
		defer unix.Munmap(b)
		for k := 0; k < len(b); k += 64 {
			sum += uint64(b[k])
		}
		for _, size := range columnSizes {
			columns[i] = append(columns[i], b[:65536*size])
			b = b[65536*size:]
		}
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	reads := 0
	begun := time.Now()
	for reads&1023 != 0 || time.Since(begun) < s.For {
		at := int((rnd.Uint64() + sum>>60) % uint64(n*65536)) // as a call, it waits for the one before
		c := columns[at/65536]
		for k, size := range columnSizes {
			sum += uint64(c[k][at%65536*size])
		}
		reads++
	}
	took := time.Since(begun)
	if sum == 0 {
		return 0, fmt.Errorf("%d loads added up to nothing", reads)
	}
	return float64(took) / float64(reads), nil
}
