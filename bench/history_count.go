//go:build !duckdb

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/ledger/bench/internal/source"
	"example.com/ledger/stream"
)

func init() { cells["history-count"] = historyCountCell }

// countFew and countMany are how many records are appended in the two processes
// whose instructions are compared: what opening and closing take cancels out. No
// history that is asked for begins so near to the end of a segment that it rolls.
const countFew, countMany = 500, 7500

// historyCountCell opens a history, appends single records, and closes it.
func historyCountCell(s spec) (outcome, error) {
	st, err := stream.Open(s.Dir, stream.OpenOptions{})
	if err != nil {
		return outcome{}, err
	}
	ring := source.NewRing(1)
	for range s.Batch {
		if _, _, err := st.Append(ring.Next(1)); err != nil {
			return outcome{}, errors.Join(err, st.Close())
		}
	}
	return outcome{}, st.Close()
}

// instructions counts the instructions of an append to the stream in dir, in user
// space, by valgrind's cachegrind.
func (r *run) instructions(dir string) (float64, error) {
	few, err := r.counted(dir, countFew)
	if err != nil {
		return 0, err
	}
	many, err := r.counted(dir, countMany)
	if err != nil {
		return 0, err
	}
	return (many - few) / (countMany - countFew), nil
}

var instructionRefs = regexp.MustCompile(`I +refs: +([0-9,]+)`)

func (r *run) counted(dir string, appends int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	twin := dir + "-count" // so that all processes begin alike, and the history doesn't grow
	if err := errors.Join(os.RemoveAll(twin), linkStream(twin, dir)); err != nil {
		return 0, err
	}
	defer os.RemoveAll(twin)
	in, err := json.Marshal(spec{Kind: "history-count", Dir: twin, Batch: appends})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", self, "cell")
	c.Env = append(os.Environ(), "GOGC=off", "GOMAXPROCS=1") // a collection would be counted with one of the two
	var out, noise bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), &out, &noise
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("counting instructions: %w", err)
	}
	var o outcome
	if err := json.Unmarshal(out.Bytes(), &o); err != nil || o.Error != "" {
		return 0, fmt.Errorf("counting instructions: %v %s", err, o.Error)
	}
	m := instructionRefs.FindSubmatch(noise.Bytes())
	if m == nil {
		return 0, errors.New("counting instructions: valgrind says nothing of them")
	}
	return strconv.ParseFloat(strings.ReplaceAll(string(m[1]), ",", ""), 64)
}

// linkStream makes a copy of a stream that shares its sealed segments, which are
// never written to.
func linkStream(to, from string) error {
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if strings.HasSuffix(e.Name(), ".seg") {
			err = os.Link(src, dst)
		} else if e.Type().IsRegular() {
			var b []byte
			if b, err = os.ReadFile(src); err == nil {
				err = os.WriteFile(dst, b, 0o640)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countInstructions fills in the column of instructions, if valgrind is there.
func (r *run) countInstructions(s spec, sizes []uint64, add func(n uint64, perAppend float64)) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		r.notes = append(r.notes, "Instructions weren't counted: valgrind is not installed.")
		return
	}
	for _, n := range sizes {
		v, err := r.instructions(historyDir(s, n))
		if err != nil {
			r.notes = append(r.notes, r.remark(err))
			return
		}
		add(n, v)
		r.progress("%s: %.1f instructions an append behind %s records", s.Engine, v, short(n))
	}
}
