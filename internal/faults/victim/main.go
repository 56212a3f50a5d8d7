// Command victim is the writer, or the reader, that the fault campaign kills,
// stops, starves and cuts the power under. It tells what it does on its standard
// output: see package faults.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/faults"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

var (
	dir       = flag.String("dir", "", "directory of the stream")
	mode      = flag.String("mode", "commit", "durability of a new stream")
	layout    = flag.String("layout", "columns", "layout of a new stream's segments")
	capacity  = flag.Int("capacity", faults.Capacity, "records a segment of a new stream")
	run       = flag.String("run", "script", "script, loop, plain or follow")
	seed      = flag.Uint64("seed", 1, "seed of loop")
	appenders = flag.Int("appenders", 1, "goroutines of loop that append")
	point     = flag.Int64("point", 0, "the point, before or after an operation, at which to do something; 0 for none")
	do        = flag.String("do", "kill", "what: kill the process, or cut the power of the disk")
	cutFlags  = flag.Uint("cut-flags", 2, "of FS_IOC_SHUTDOWN: 0 flush all, 1 flush the log, 2 flush nothing")
	limits    faults.Limits
)

func main() {
	flag.Uint64Var(&limits.Files, "nofile", 0, "limit of open files; 0 for none")
	flag.Uint64Var(&limits.Space, "as", 0, "limit of address space beyond what the process has at its start, bytes")
	flag.Uint64Var(&limits.Size, "fsize", 0, "limit of a file's size, bytes")
	flag.IntVar(&limits.Maps, "maps", 0, "leave room for about this many mappings")
	flag.Parse()
	if err := victim(); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}

func victim() error {
	tell := faults.NewTeller(os.Stdout)
	if err := limits.Set(); err != nil {
		return err
	}
	if *run == "follow" {
		stop := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(stop)
		}()
		return faults.Follow(*dir, tell, stop)
	}
	w := &faults.Writer{FS: disk.OS(), Dir: *dir, Capacity: *capacity, Tell: tell}
	var err error
	if w.Mode, err = stream.ParseDurability(*mode); err != nil {
		return err
	}
	if w.Layout, err = segment.ParseLayout(*layout); err != nil {
		return err
	}
	if *point != 0 {
		var passed atomic.Int64
		defer func() { tell.Say("points %d", passed.Load()) }()
		act, err := action()
		if err != nil {
			return err
		}
		w.FS = faults.Hooked(w.FS, func(op, path string) {
			if passed.Add(1) == *point {
				act()
			}
		})
	}
	switch *run {
	case "script":
		return w.Script()
	case "loop":
		return w.Loop(*seed, *appenders)
	case "plain":
		return w.Plain()
	}
	return fmt.Errorf("no run is called %s", *run)
}

// action is what is done at the point: it is got ready before.
func action() (func(), error) {
	if *do == "cut" {
		cut, err := faults.PowerCut(*dir, uint32(*cutFlags))
		return func() { _ = cut() }, err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	return func() {
		_ = self.Kill()
		select {} // it may take a moment
	}, nil
}
