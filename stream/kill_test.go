package stream

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

var killRounds = flag.Int("kill.rounds", 6, "processes to kill for each mode, on one stream")

// TestKill: what a process acknowledged survives kill -9 at any moment, in all
// modes, over many deaths of one stream, and batches stay whole.
func TestKill(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			k := &killed{t: t, dir: dir, mode: mode, rng: rand.New(rand.NewPCG(*crashSeed, uint64(mode)))}
			for round := range *killRounds {
				k.round(round)
				k.compare(round%3 == 2)
			}
			if k.acked == 0 {
				t.Fatal("no process lived to acknowledge anything")
			}
		})
	}
}

// killed is a stream whose writers are killed, and what they told.
type killed struct {
	t        *testing.T
	dir      string
	mode     Durability
	rng      *rand.Rand
	acked    uint64 // all below was acknowledged
	retained uint64 // retention was asked to drop below
}

// round lets a process write until a random one of its messages, and kills it.
func (k *killed) round(round int) {
	k.t.Helper()
	c := startChild(k.t, "write", k.dir, childMode+"="+k.mode.String(), fmt.Sprintf("%s=%d", childSeed, k.rng.Uint64()))
	last := k.rng.IntN(80)
	if k.mode == Os { // which waits for no disk
		last = k.rng.IntN(800)
	}
	if round == 0 {
		last = max(last, 1)
	}
	for i := 0; ; i++ {
		if i == last {
			c.kill() // while it goes on
		}
		m, ok := c.next()
		if !ok {
			break
		}
		switch m.kind {
		case 'o':
			if m.from < k.acked {
				k.t.Fatalf("round %d: the process begins at %d, but all below %d was acknowledged", round, m.from, k.acked)
			}
		case 'a':
			k.acked = m.from + m.n
		case 'r':
			k.retained = max(k.retained, m.from)
		}
	}
	if err := c.cmd.Wait(); err == nil {
		k.t.Fatalf("round %d: the process ended by itself", round)
	}
}

// compare reads what is there: beside no writer, or as the next writer, which
// recovers the stream. Without the latter the next process recovers it.
func (k *killed) compare(write bool) {
	k.t.Helper()
	r, err := OpenReader(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	k.check(must[*Snapshot](k.t)(r.Snapshot()), "reader")
	if !write {
		return
	}
	s, err := Open(k.dir, OpenOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	k.check(must[*Snapshot](k.t)(s.Snapshot()), fmt.Sprintf("writer, %+v", s.Report()))
	if err := s.Close(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killed) check(n *Snapshot, who string) {
	k.t.Helper()
	defer n.Close()
	if uint64(n.End()) < k.acked {
		k.t.Fatalf("%s: ends at %d, but all below %d was acknowledged", who, n.End(), k.acked)
	}
	if uint64(n.First()) > k.retained {
		k.t.Fatalf("%s: begins at %d, but retention was asked to keep all from %d on", who, n.First(), k.retained)
	}
	for _, d := range n.Dropped() {
		if uint64(d.To) > k.retained {
			k.t.Fatalf("%s: %v, but retention was asked to keep all from %d on", who, &d, k.retained)
		}
	}
	if err := checkSnapshot(n); err != nil {
		k.t.Fatalf("%s: %v", who, err)
	}
}
