package faults

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"example.com/ledger/internal/disk"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// victimFlags are a victim's arguments.
type victimFlags struct {
	dir, mode, layout, run, do string
	capacity, appenders        int
	seed                       uint64
	point                      int64
	cutFlags                   uint
	limits                     Limits
}

func (v *victimFlags) parse(args []string) error {
	f := flag.NewFlagSet("victim", flag.ContinueOnError)
	f.StringVar(&v.dir, "dir", "", "directory of the stream")
	f.StringVar(&v.mode, "mode", "commit", "durability of a new stream")
	f.StringVar(&v.layout, "layout", "columns", "layout of a new stream's segments")
	f.IntVar(&v.capacity, "capacity", Capacity, "records a segment of a new stream")
	f.StringVar(&v.run, "run", "script", "script, loop, plain or follow")
	f.Uint64Var(&v.seed, "seed", 1, "seed of loop")
	f.IntVar(&v.appenders, "appenders", 1, "goroutines of loop that append")
	f.Int64Var(&v.point, "point", 0, "the point, before or after an operation, at which to do something; 0 for none")
	f.StringVar(&v.do, "do", "kill", "what: kill the process, or cut the power of the disk")
	f.UintVar(&v.cutFlags, "cut-flags", 2, "of FS_IOC_SHUTDOWN: 0 flush all, 1 flush the log, 2 flush nothing")
	f.Uint64Var(&v.limits.Files, "nofile", 0, "limit of open files; 0 for none")
	f.Uint64Var(&v.limits.Space, "as", 0, "limit of address space beyond what the process has at its start, bytes")
	f.Uint64Var(&v.limits.Size, "fsize", 0, "limit of a file's size, bytes")
	f.IntVar(&v.limits.Maps, "maps", 0, "leave room for about this many mappings")
	return f.Parse(args)
}

// Victim runs a writer, or a reader, as its arguments say, and tells on out what
// it does. A reader ends when in does.
func Victim(args []string, in io.Reader, out io.Writer) error {
	var v victimFlags
	if err := v.parse(args); err != nil {
		return err
	}
	tell := NewTeller(out)
	if err := v.limits.Set(); err != nil {
		return err
	}
	if v.run == "follow" {
		stop := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, in)
			close(stop)
		}()
		return Follow(v.dir, tell, stop)
	}
	w := &Writer{FS: disk.OS(), Dir: v.dir, Capacity: v.capacity, Tell: tell}
	var err error
	if w.Mode, err = stream.ParseDurability(v.mode); err != nil {
		return err
	}
	if w.Layout, err = segment.ParseLayout(v.layout); err != nil {
		return err
	}
	if v.point != 0 {
		var passed atomic.Int64
		defer func() { tell.Say("points %d", passed.Load()) }()
		act, err := v.action()
		if err != nil {
			return err
		}
		w.FS = Hooked(w.FS, func(op, path string) {
			if passed.Add(1) == v.point {
				act()
			}
		})
	}
	switch v.run {
	case "script":
		return w.Script()
	case "loop":
		return w.Loop(v.seed, v.appenders)
	case "plain":
		return w.Plain()
	}
	return fmt.Errorf("no run is called %s", v.run)
}

// action is what is done at the point: it is got ready before.
func (v *victimFlags) action() (func(), error) {
	if v.do == "cut" {
		cut, err := PowerCut(v.dir, uint32(v.cutFlags))
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
