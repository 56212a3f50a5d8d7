package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/ledger/internal/disk"
)

// What an Action does.
const (
	// OpRebuild writes a file anew, out of what the others, or its own good
	// parts, prove. What it replaces is copied to quarantine first.
	OpRebuild = "rebuild"
	// OpQuarantine moves a file to quarantine.
	OpQuarantine = "quarantine"
	// OpDrop names a range of records in drops.json as lost.
	OpDrop = "drop"
	// OpLeave does nothing: what is damaged can't be made whole.
	OpLeave = "leave"
)

// An Action is one thing that Repair does, or would do.
type Action struct {
	Op      string `json:"op"`              // one of the Op constants
	File    string `json:"file"`            // in the stream's directory
	FromSeq uint64 `json:"from_seq,string"` // records that it is about: [FromSeq, ToSeq)
	ToSeq   uint64 `json:"to_seq,string"`
	Detail  string `json:"detail"`
}

// String is the action on one line.
func (a Action) String() string {
	s := a.Op + " " + a.File
	if a.ToSeq > a.FromSeq {
		s += fmt.Sprintf(": records [%d, %d)", a.FromSeq, a.ToSeq)
	}
	return s + ": " + a.Detail
}

// A RepairReport says what Repair found and did.
type RepairReport struct {
	Dir     string   `json:"dir"`
	Applied bool     `json:"applied"`
	Actions []Action `json:"actions"` // in order; none if the stream was clean
	Before  *Report  `json:"before"`
	After   *Report  `json:"after,omitempty"` // nil unless applied
}

// Repair says what would make a damaged stream whole, and with apply does it:
// what can be rebuilt is rebuilt, from the good parts of a file or from the
// journals; all else is moved to the folder quarantine, and the numbers that are
// lost with it are named in drops.json with the reason "repair". It deletes
// nothing. Afterwards Stream finds no problem and the stream opens, unless an
// Action is OpLeave.
//
// With apply it holds the stream's lock: ErrLocked if a writer has it. If it is
// interrupted at any point, by a power cut too, nothing is lost, and another run
// goes on. A file of a later release is ErrVersion, and nothing is done. Without
// apply nothing is changed, and what the first repairs bring to light is missing
// from the plan.
func Repair(ctx context.Context, dir string, apply bool) (*RepairReport, error) {
	return RepairOn(ctx, disk.OS(), dir, apply)
}

// RepairOn is Repair on any file system.
func RepairOn(ctx context.Context, fsys disk.FS, dir string, apply bool) (*RepairReport, error) {
	r, err := repair(ctx, fsys, dir, apply)
	if err != nil {
		return r, fmt.Errorf("ledger: repair %s: %w", dir, err)
	}
	return r, nil
}

// rounds bounds how often a stream is looked at and repaired: one repair may
// bring another problem to light.
const rounds = 4

func repair(ctx context.Context, fsys disk.FS, dir string, apply bool) (r *RepairReport, err error) {
	if apply {
		lock, lerr := fsys.Lock(dir)
		if notExist(lerr) {
			return nil, fmt.Errorf("%w: %w", ErrNotFound, lerr)
		}
		if lerr != nil {
			return nil, lerr
		}
		defer func() { err = errors.Join(err, lock.Close()) }()
	}
	r = &RepairReport{Dir: dir, Applied: apply, Actions: []Action{}}
	for round := range rounds {
		d, err := examine(ctx, fsys, dir, nil)
		if err != nil {
			return r, err
		}
		if round == 0 {
			r.Before = d.report
		}
		if apply {
			r.After = d.report
		}
		if d.report.OK && !d.leftovers() {
			return r, nil
		}
		p, err := d.planRepair(ctx, fsys)
		if err != nil {
			return r, err
		}
		useful := apply && p.useful()
		if useful {
			err = p.apply(ctx)
		}
		r.Actions = append(r.Actions, p.actions()...)
		if !useful || err != nil {
			return r, err
		}
	}
	d, err := examine(ctx, fsys, dir, nil)
	if err == nil {
		r.After = d.report
	}
	return r, err
}

// leftovers tells whether an interrupted repair has left files.
func (v *sight) leftovers() bool {
	return slices.ContainsFunc(v.entries, func(e disk.Entry) bool { return strings.HasSuffix(e.Name, ".seg"+pending) && e.Regular })
}

// A plan is what is to be done, in the order in which it is.
type plan struct {
	fsys disk.FS
	dir  string
	now  time.Time

	metadata []rewrite // small files, but for drops.json
	images   []image   // sealed files to be written
	headers  []rewrite // parts of journals
	away     []move    // files to be set aside

	consumers []consumerMove // those to be set aside
	drops     *rewrite       // drops.json, or nil
	lost      []Action
	leave     []Action
}

// A rewrite puts bytes into a file: of all of it, or at an offset.
type rewrite struct {
	Action
	data []byte
	at   int64 // -1: data is the whole file
}

// An image is a sealed file to be written; encode makes its bytes. With no
// encode it is on disk under its pending name already.
type image struct {
	Action
	encode func() ([]byte, error)
}

// A move sets a file aside.
type move struct {
	Action
	done bool // it is in quarantine already
}

// useful tells whether the plan changes anything.
func (p *plan) useful() bool {
	return len(p.metadata)+len(p.images)+len(p.headers)+len(p.away)+len(p.consumers) > 0 || p.drops != nil
}

func (p *plan) actions() []Action {
	var out []Action
	for _, x := range p.metadata {
		out = append(out, x.Action)
	}
	for _, x := range p.images {
		out = append(out, x.Action)
	}
	for _, x := range p.headers {
		out = append(out, x.Action)
	}
	for _, x := range p.away {
		out = append(out, x.Action)
	}
	for _, x := range p.consumers {
		if !x.kept {
			out = append(out, x.Action)
		}
	}
	if p.drops != nil && p.drops.Detail != "" {
		out = append(out, p.drops.Action)
	}
	out = append(out, p.lost...)
	return append(out, p.leave...)
}
