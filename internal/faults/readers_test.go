//go:build unix

package faults

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// readers is how many processes read beside the writer.
const readers = 5

// A reading is a process that follows a stream.
type reading struct {
	cmd  *exec.Cmd
	in   io.Closer
	seen atomic.Uint64 // the highest end that it told
	told atomic.Uint64 // lines
	last string
	err  strings.Builder
	done chan struct{}
}

func startReading(t *testing.T, dir string) *reading {
	t.Helper()
	r := &reading{cmd: victim(t, "-run=follow", "-dir="+dir), done: make(chan struct{})}
	r.cmd.Stderr = &r.err
	in, err := r.cmd.StdinPipe()
	check(t, err)
	r.in = in
	out, err := r.cmd.StdoutPipe()
	check(t, err)
	check(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go func() {
		defer close(r.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var what string
			var end uint64
			_, _ = fmt.Sscan(lines.Text(), &what, &end)
			r.last = lines.Text()
			r.seen.Store(end)
			r.told.Add(1)
		}
	}()
	return r
}

// until waits for what a reader does.
func (r *reading) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		select {
		case <-r.done:
			t.Fatalf("a reader ended before it %s: %s", what, r.err.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("a reader never %s: it has told %d times, and seen %d", what, r.told.Load(), r.seen.Load())
		}
	}
}

// TestReadersBesideWriter: five processes read beside a writer that is stopped,
// goes on, is killed and starts again. Each sees whole batches and right records,
// never fewer than before, waits for no writer, and sees all in the end.
func TestReadersBesideWriter(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(scratch(t), "s")
			rng := rand.New(rand.NewPCG(*seed, 300+uint64(mode)))
			var all []*reading
			for range readers {
				all = append(all, startReading(t, dir))
			}
			told := &Told{}
			stops, kills := 0, 0
			for round := range sample(2, 25) {
				cmd := victim(t, "-run=loop", fmt.Sprint("-seed=", rng.Uint64()), "-appenders=2", "-dir="+dir, "-mode="+mode.String())
				stopAt, killAt, lines := 15+rng.IntN(60), 0, 0
				killAt = stopAt + 1 + rng.IntN(60)
				told.hear(t, cmd, mode, func(string) {
					switch lines++; lines {
					case stopAt:
						check(t, cmd.Process.Signal(syscall.SIGSTOP))
						for _, r := range all {
							before := r.told.Load()
							r.until(t, "read beside a stopped writer", func() bool { return r.told.Load() > before+1 })
						}
						check(t, cmd.Process.Signal(syscall.SIGCONT))
						stops++
					case killAt:
						check(t, cmd.Process.Kill())
						kills++
					}
				})
				for _, r := range all {
					r.until(t, "saw all", func() bool { return r.seen.Load() >= told.Acked })
				}
				if len(told.Bugs) > 0 {
					t.Fatalf("round %d: %q", round, told.Bugs)
				}
			}
			looks := uint64(0)
			for _, r := range all {
				r.until(t, "looked ten times", func() bool { return r.told.Load() >= 10 })
				check(t, r.in.Close())
				<-r.done
				if err := r.cmd.Wait(); err != nil || !strings.HasPrefix(r.last, "end ") {
					t.Errorf("a reader: %v: %s", err, r.err.String())
				}
				looks += r.told.Load()
			}
			t.Logf("%d stops, %d kills, %d records acknowledged, %d looks", stops, kills, told.Acked, looks)
			if stops == 0 || kills == 0 || told.Acked == 0 || looks < 10*readers {
				t.Error("the test saw too little")
			}
			if _, err := (audit{dir: dir, mode: mode, told: told}).run(); err != nil {
				t.Error(err)
			}
		})
	}
}
