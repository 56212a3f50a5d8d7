//go:build faultfs && linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/ledger/stream"
)

// TestPowerCuts cuts the power of real file systems under a writer: at points
// before and after its file operations, those of roll, seal, retention, alter,
// close and recovery among them, and at random instants of a stream that lives
// on over all cuts.
func TestPowerCuts(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			v := format(t, kind)
			var c cuts
			for _, mode := range modes {
				t.Run("points/"+mode.String(), func(t *testing.T) { c.atPoints(t, v, mode, sample(4, 50)) })
			}
			for _, mode := range modes {
				t.Run("instants/"+mode.String(), func(t *testing.T) { c.atInstants(t, v, mode, sample(3, 25)) })
			}
			t.Logf("%s: %d cuts, %d of them in recovery, %d acknowledgements; %d recoveries replayed, %d cut a tail, %d named a loss",
				kind, c.n, c.inRecovery, c.acks, c.replayed, c.cut, c.lost)
			if c.n < sample(20, 200) || c.acks == 0 {
				t.Errorf("%d cuts with %d acknowledgements: the test saw too little", c.n, c.acks)
			}
		})
	}
}

type cuts struct {
	n, inRecovery, acks, replayed, cut, lost int
}

func (c *cuts) count(r stream.OpenReport) {
	c.n++
	if r.Replayed > 0 {
		c.replayed++
	}
	if r.Cut > 0 {
		c.cut++
	}
	if len(r.Lost) > 0 {
		c.lost++
	}
}

// atPoints runs the script n times, and cuts the power at another point each.
func (c *cuts) atPoints(t *testing.T, v *volume, mode stream.Durability, n int) {
	rng := rand.New(rand.NewPCG(*seed, uint64(mode)))
	last := points(t, mode)
	for i := range n {
		dir := filepath.Join(v.dir, fmt.Sprintf("p%d-%v", i, mode))
		p := 1 + (i*last+rng.IntN(last))/n
		told := &Told{}
		at := []string{fmt.Sprint("-point=", p), "-do=cut", fmt.Sprint("-cut-flags=", 1+rng.IntN(2))}
		_, stderr := told.hear(t, victim(t, append(at, "-dir="+dir, "-mode="+mode.String())...), mode, nil)
		c.acks += told.Acks
		v.restart()
		if i%4 == 3 { // and once more, in the recovery
			p := 1 + rng.IntN(60)
			told.Ended = false
			told.Acked = min(told.Acked, told.Durable) // what the first cut may have left
			told.hear(t, victim(t, fmt.Sprint("-point=", p), "-do=cut", "-dir="+dir, "-mode="+mode.String()), mode, nil)
			v.restart()
			c.inRecovery++
			c.n++
		}
		c.judge(t, dir, mode, told, fmt.Sprintf("cut at point %d of %d, %s", p, last, stderr))
		check(t, os.RemoveAll(dir))
	}
}

// points is how many points a whole run of the script passes.
func points(t *testing.T, mode stream.Durability) int {
	t.Helper()
	var told Told
	err, stderr := told.hear(t, victim(t, "-point=-1", "-dir="+filepath.Join(t.TempDir(), "s"), "-mode="+mode.String()), mode, nil)
	if err != nil || !told.Ended || told.Points == 0 {
		t.Fatalf("a run without a fault: %v %s\n%+v", err, stderr, told)
	}
	return told.Points
}

// atInstants lets one stream live through n cuts.
func (c *cuts) atInstants(t *testing.T, v *volume, mode stream.Durability, n int) {
	rng := rand.New(rand.NewPCG(*seed, 100+uint64(mode)))
	dir := filepath.Join(v.dir, "i-"+mode.String())
	told := &Told{}
	for i := range n {
		lines := 20 + rng.IntN(400)
		cmd := victim(t, "-run=loop", fmt.Sprint("-seed=", rng.Uint64()), fmt.Sprint("-appenders=", 1+i%3), "-dir="+dir, "-mode="+mode.String())
		cut, err := PowerCut(dir, uint32(1+rng.IntN(2)))
		check(t, err)
		seen := 0
		disk, err := os.Open(v.dir)
		check(t, err)
		told.hear(t, cmd, mode, func(line string) {
			if rng.IntN(60) == 0 { // what is written by now stays, what comes after may not
				_ = unix.Syncfs(int(disk.Fd()))
			}
			if seen++; seen == lines || strings.HasPrefix(line, "retain") && rng.IntN(6) == 0 && seen < lines {
				seen = max(seen, lines)
				check(t, cut())
				check(t, cmd.Process.Kill())
			}
		})
		check(t, disk.Close())
		if seen < lines {
			t.Fatalf("the writer ended by itself: %q", told.Fails)
		}
		v.restart()
		end := c.judge(t, dir, mode, told, fmt.Sprintf("cut %d", i))
		// What is there now is what the next cut must leave.
		*told = Told{Created: true, Acked: end, Durable: end, Tried: end, Retained: told.Retained}
		if mode != stream.Commit {
			told.Retained = max(told.Retained, end) // a hole that was named stays
		}
	}
	check(t, os.RemoveAll(dir))
}

// judge audits what a cut left and returns where the stream now ends.
func (c *cuts) judge(t *testing.T, dir string, mode stream.Durability, told *Told, what string) uint64 {
	t.Helper()
	before := listing(dir)
	rep, err := audit{dir: dir, mode: mode, told: told, power: true}.run()
	if err != nil {
		t.Fatalf("seed %d: %s: %v\n%v\nthe disk had%s\nand has now%s", *seed, what, err, told, before, listing(dir))
	}
	c.count(rep)
	if !told.Created && rep.NextSeq == 0 {
		return 0
	}
	s, err := stream.Open(dir, stream.OpenOptions{})
	check(t, err)
	defer s.Close()
	return uint64(s.Cursors().Appended)
}
