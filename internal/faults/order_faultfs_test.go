//go:build faultfs && linux

package faults

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ledger/stream"
)

// TestOrder holds a system-call trace of a Commit stream against the rules of
// what must be on disk before what: for each acknowledgement the sync of the
// journals that it stands in, and before that the sync of the directory where
// the journal's name is new; a new segment's name before its journal is used
// again; drops.json and its name before a file is unlinked.
func TestOrder(t *testing.T) {
	needs(t, false, "strace")
	o := &order{t: t, lines: trace(t, stream.Commit, "script")}
	acks, reuses, unlinks := 0, 0, 0
	for i, l := range o.lines {
		switch {
		case l.call == "write" && strings.Contains(l.args, `"ack `):
			o.ack(i)
			acks++
		case l.call == "pwrite64" && o.journal(l.path) && strings.Contains(l.args, "OXLJ"):
			if o.started(i) {
				reuses++
			}
		case l.call == "unlinkat" && strings.HasSuffix(l.path, ".seg"):
			o.unlink(i)
			unlinks++
		}
	}
	t.Logf("%d acknowledgements, %d journals started again, %d files unlinked, in %d calls", acks, reuses, unlinks, len(o.lines))
	if acks < 15 || reuses < 4 || unlinks < 3 {
		t.Error("the test saw too little")
	}
}

type order struct {
	t     *testing.T
	lines []traceLine
}

func (o *order) journal(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "journal.") && !strings.HasSuffix(base, ".tmp")
}

// synced tells whether a sync of path began after call i ended, and ended well
// before line until began.
func (o *order) synced(path string, i, until int) bool {
	return slices.ContainsFunc(o.lines[i:until], func(l traceLine) bool {
		return (l.call == "fdatasync" || l.call == "fsync") && l.path == path && l.result == "0" &&
			l.start > o.lines[i].end && l.end < o.lines[until].start
	})
}

// last is the last line before until for which ok holds, or -1.
func (o *order) last(until int, ok func(traceLine) bool) int {
	for i := until - 1; i >= 0; i-- {
		if ok(o.lines[i]) {
			return i
		}
	}
	return -1
}

// ack checks the acknowledgement at line a: every write to a journal since the
// batch was begun is synced, and the journal's name was before the write. A mark
// is no part of the batch: it is written after the sync.
func (o *order) ack(a int) {
	begun := o.last(a, func(l traceLine) bool { return l.call == "write" && strings.Contains(l.args, `"try `) })
	frames := 0
	for i := begun + 1; i < a; i++ {
		l := o.lines[i]
		if l.call != "pwrite64" || !o.journal(l.path) || strings.HasSuffix(l.result, " 16") || l.result == "16" {
			continue
		}
		frames++
		if !o.synced(l.path, i, a) {
			o.t.Errorf("%s: not synced: pwrite64(%s)", o.lines[a].args, l.args)
		}
		made := o.last(i, func(r traceLine) bool { return r.call == "renameat" && strings.Contains(r.args, `"`+l.path+`"`) })
		if made < 0 || !o.synced(filepath.Dir(l.path), made, i) {
			o.t.Errorf("%s: the name of %s is not on disk", o.lines[a].args, l.path)
		}
		if !o.synced(l.path+".tmp", 0, made) {
			o.t.Errorf("%s: %s was renamed before its zeros were on disk", o.lines[a].args, l.path)
		}
	}
	if begun < 0 || frames == 0 {
		o.t.Errorf("%s: no frame was written", o.lines[a].args)
	}
}

// started checks that a journal that begins a new life has given its records to
// a file whose name is on disk. It tells whether it had a life before.
func (o *order) started(i int) bool {
	path := o.lines[i].path
	before := o.last(i, func(l traceLine) bool { return l.call == "pwrite64" && l.path == path })
	if before < 0 {
		return false
	}
	seal := o.last(i, func(l traceLine) bool {
		return l.call == "renameat" && strings.Contains(l.args, ".seg\"") && l.start > o.lines[before].end
	})
	if seal >= 0 && !o.synced(filepath.Dir(path), seal, i) && !o.newer(seal, i) {
		o.t.Errorf("%s is used again, and no name of a segment is on disk since %s", path, o.lines[seal].args)
	}
	return true
}

// newer tells whether an earlier seal freed the journal: the last one may still
// be under way. Then one before it must be on disk.
func (o *order) newer(seal, until int) bool {
	prior := o.last(seal, func(l traceLine) bool { return l.call == "renameat" && strings.Contains(l.args, ".seg\"") })
	return prior >= 0 && o.synced(filepath.Dir(o.lines[until].path), prior, until)
}

// unlink checks that drops.json, and its name, were on disk before.
func (o *order) unlink(i int) {
	dir := filepath.Dir(o.lines[i].path)
	named := o.last(i, func(l traceLine) bool { return l.call == "renameat" && strings.Contains(l.args, `drops.json"`) })
	if named < 0 || !o.synced(dir, named, i) || !o.synced(filepath.Join(dir, "drops.json.tmp"), 0, named) {
		o.t.Errorf("%s is unlinked before drops.json is on disk", o.lines[i].path)
	}
}

// TestNoSyncInOs: while an Os stream appends, rolls and seals, nothing is synced
// but a journal that is made, and the directory for its name.
func TestNoSyncInOs(t *testing.T) {
	needs(t, false, "strace")
	for _, mode := range []stream.Durability{stream.Os, stream.Sealed} {
		t.Run(mode.String(), func(t *testing.T) {
			lines := trace(t, mode, "plain")
			at := func(what string) int {
				return slices.IndexFunc(lines, func(l traceLine) bool { return l.call == "write" && strings.Contains(l.args, `"`+what+`\n"`) })
			}
			begin, over := at("begin"), at("over")
			if begin < 0 || over < 0 {
				t.Fatalf("no begin or no over in %d lines", len(lines))
			}
			made, seals, other := 0, 0, []string{}
			for i := begin; i < over; i++ {
				l := lines[i]
				switch {
				case l.call == "renameat" && strings.Contains(l.args, ".seg\""):
					seals++
				case !strings.Contains(l.call, "sync"):
				case l.call == "fsync" && strings.Contains(filepath.Base(l.path), "journal.") && strings.HasSuffix(l.path, ".tmp"):
					made++
				case l.call == "fsync" && madeBefore(lines[begin:i], l):
				default:
					other = append(other, fmt.Sprintf("%s(%s)", l.call, l.args))
				}
			}
			t.Logf("%d seals, %d journals made, %d other syncs, in %d calls", seals, made, len(other), over-begin)
			if seals < 10 || made == 0 {
				t.Error("the test saw too little")
			}
			switch {
			case mode == stream.Os && len(other) > 0:
				t.Errorf("an Os stream syncs: %q", other)
			case mode == stream.Sealed && len(other) > 2*seals:
				t.Errorf("a Sealed stream of %d seals syncs %d times: %q", seals, len(other), other)
			}
		})
	}
}

// madeBefore tells whether the last name that the thread of l has changed was a
// journal's, so that l syncs the directory for it.
func madeBefore(lines []traceLine, l traceLine) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if x := lines[i]; x.call == "renameat" && strings.Contains(x.args, `journal.`) && strings.Contains(x.args, filepath.Base(l.path)) {
			return true
		} else if x.call == "fsync" && x.path == l.path {
			return false
		}
	}
	return false
}
