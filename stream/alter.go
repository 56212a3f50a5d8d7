package stream

import (
	"errors"
	"fmt"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/retention"
	"example.com/ledger/segment"
)

// A Change is what Alter changes of a stream: what is nil stays as it is.
type Change struct {
	Durability *Durability
	Capacity   *int // records a segment, from the next one on
	SyncEvery  *time.Duration
	Retention  *retention.Policy
}

// Alter changes what a stream is, from here on: records that are there keep
// their form. It opens the stream as its writer, seals the active segment,
// replaces stream.json and closes the stream. Raising the durability syncs all
// sealed files first. When it returns nil the change is on disk; after an
// error the stream is as it was. Errors: those of Open, and ErrOption for a
// result that Create would refuse.
func Alter(dir string, c Change, o OpenOptions) (Info, error) { return AlterOn(disk.OS(), dir, c, o) }

// AlterOn is Alter on another disk, for the tests of this module.
func AlterOn(fsys disk.FS, dir string, c Change, o OpenOptions) (Info, error) {
	s, err := OpenOn(fsys, dir, o)
	if err != nil {
		return Info{}, err
	}
	info, err := s.alter(c)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Info{}, fmt.Errorf("ledger: alter %s: %w", dir, err)
	}
	return info, nil
}

// with returns the stream's facts with a change made to them.
func (i Info) with(c Change) (Info, error) {
	if c.Durability != nil {
		i.Durability = *c.Durability
		if i.Durability == Commit && c.SyncEvery == nil {
			i.SyncEvery = 0
		}
	}
	if c.Capacity != nil {
		i.Capacity = *c.Capacity
	}
	if c.SyncEvery != nil {
		i.SyncEvery = *c.SyncEvery
	}
	if c.Retention != nil {
		i.Retention = *c.Retention
	}
	o := Options{Schema: i.Schema, Capacity: i.Capacity, Durability: i.Durability, Layout: i.Layout, SyncEvery: i.SyncEvery, Retention: i.Retention}
	return i, o.validate()
}

func (s *Stream) alter(c Change) (Info, error) {
	info, err := s.Info().with(c)
	if err != nil {
		return Info{}, err
	}
	if err := s.Seal(); err != nil {
		return Info{}, err
	}
	if info.Durability < s.info.Durability { // Commit < Sealed < Os
		if err := s.syncFiles(s.unproven()); err != nil {
			return Info{}, err
		}
	}
	late, err := writeMeta(s.fsys, info)
	return info, errors.Join(late, err)
}

// unproven are the sealed files that were not known to be on disk when they got
// their names.
func (s *Stream) unproven() []*segment.File {
	var out []*segment.File
	for _, f := range s.views.present.Load().files {
		if f.Header().Flags&segment.FlagDurable == 0 {
			out = append(out, f.File)
		}
	}
	return out
}
