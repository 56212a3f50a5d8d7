package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// A run is one question being asked.
type run struct {
	ctx    context.Context
	flags  flags
	dir    string // for data; removed behind the question
	begun  time.Time
	notes  []string
	failed int
}

// pick chooses by the size of the run.
func pick[T any](r *run, tiny, normal, full T) T {
	switch {
	case r.flags.tiny:
		return tiny
	case r.flags.full:
		return full
	}
	return normal
}

// wanted reports whether the user wants an engine.
func (r *run) wanted(name string) bool {
	if len(r.flags.engines) == 0 || strings.HasPrefix(name, "floor") {
		return true
	}
	return slices.ContainsFunc(r.flags.engines, func(s string) bool {
		return strings.Contains(strings.ToLower(name), strings.ToLower(s))
	})
}

func (r *run) commandLine(name string) string {
	s := invocation + " --only " + name
	if r.flags.full {
		s += " --full"
	}
	if r.flags.tiny {
		s += " --tiny"
	}
	if len(r.flags.engines) > 0 {
		s += " --engines " + strings.Join(r.flags.engines, ",")
	}
	return s
}

// rounds runs jobs 0 to n-1 in turns: the first round in their order, the others
// in orders of their own, so that none is always behind the same one. It begins
// no job when part of the time for the question is used up; the first round may
// take a third of the time more.
func (r *run) rounds(rounds, n int, part float64, job func(round, i int)) error {
	rnd := rand.New(rand.NewPCG(3, 4))
	for k := range rounds {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		if k > 0 {
			rnd.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		limit := time.Duration(part * float64(r.flags.budget))
		if k == 0 {
			limit += r.flags.budget / 3
		}
		for _, i := range order {
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			if time.Since(r.begun) > limit {
				r.notes = append(r.notes, fmt.Sprintf("The time was used up in round %d of %d.", k+1, rounds))
				return nil
			}
			job(k, i)
		}
	}
	return r.ctx.Err()
}

// progress prints one line for a measurement.
func (r *run) progress(format string, a ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(r.begun).Seconds(), fmt.Sprintf(format, a...))
}

// A spec tells a process what to measure.
type spec struct {
	Kind       string
	Engine     string
	Dir        string
	Sync       bool
	Batch      int
	Goroutines int
	For        time.Duration
	Records    uint64
	Rate       float64
	Extra      map[string]float64
}

// An outcome is what the process found.
type outcome struct {
	Figures map[string]float64
	Points  map[string][]float64
	Text    string
	Error   string
}

// cells are the measurements that a process can be told to make.
var cells = map[string]func(spec) (outcome, error){}

// measure runs a process for the spec, in an empty directory unless the spec has
// one, and kills it when it takes too long.
func (r *run) measure(s spec, limit time.Duration) (outcome, error) {
	if s.Dir == "" {
		s.Dir = filepath.Join(r.dir, "cell")
		if err := errors.Join(os.RemoveAll(s.Dir), os.MkdirAll(s.Dir, 0o755)); err != nil {
			return outcome{}, err
		}
		defer func() {
			os.RemoveAll(s.Dir)
			r.settle() // what one engine left unwritten is not to burden the next
		}()
	}
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	in, err := json.Marshal(s)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	var out, noise bytes.Buffer
	c := exec.CommandContext(ctx, self, "cell")
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), &out, &noise
	c.WaitDelay = 5 * time.Second
	err = c.Run()
	var o outcome
	if ctx.Err() != nil && r.ctx.Err() == nil {
		r.failed++
		return o, fmt.Errorf("not done within %v", limit)
	}
	if jerr := json.Unmarshal(out.Bytes(), &o); jerr != nil && err == nil {
		err = jerr
	}
	if o.Error != "" {
		err = errors.New(o.Error)
	}
	if err != nil {
		r.failed++
		tail := noise.Bytes()
		fmt.Fprintf(os.Stderr, "%s", tail[max(0, len(tail)-2000):])
	}
	return o, err
}

// settle waits until the file system has nothing left to write.
func (r *run) settle() {
	f, err := os.Open(filepath.Dir(r.dir))
	if err != nil {
		return
	}
	defer f.Close()
	_ = unix.Syncfs(int(f.Fd())) // only to begin evenly
}

func cellCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cell", Hidden: true, Args: cobra.NoArgs,
		Short: "Make one measurement: a spec on standard input, an outcome on standard output",
		RunE: func(c *cobra.Command, _ []string) error {
			var s spec
			if err := json.NewDecoder(c.InOrStdin()).Decode(&s); err != nil {
				return err
			}
			f, ok := cells[s.Kind]
			if !ok {
				return fmt.Errorf("no measurement %q", s.Kind)
			}
			stdout := os.Stdout
			os.Stdout = os.Stderr // engines that print are not to spoil the answer
			o, err := f(s)
			if err != nil {
				o.Error = err.Error()
			}
			return json.NewEncoder(stdout).Encode(o)
		},
	}
}

// remark shortens an error to what fits a table, without the run's directory.
func (r *run) remark(err error) string {
	s := strings.ReplaceAll(err.Error(), r.dir, "")
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 70 {
		s = s[:70] + "…"
	}
	return s
}
