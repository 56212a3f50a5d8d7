package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.com/ledger/internal/meta"
	"example.com/ledger/verify"
)

// TestSidecars: a sidecar is checked and not noted; one that is damaged or another
// stream's is reported, and repair sets it aside.
func TestSidecars(t *testing.T) {
	dir, _ := commitCols.make(t)
	b, err := os.ReadFile(filepath.Join(dir, meta.StreamFile))
	check(err)
	m, err := meta.DecodeStream("", b)
	check(err)
	put := func(name, id string, version int) {
		b, err := meta.EncodeSidecar(struct {
			Version int    `json:"version"`
			Stream  string `json:"stream"`
		}{version, id})
		check(err)
		check(os.WriteFile(filepath.Join(dir, name), b, 0o640))
	}
	put(meta.DictionaryFile, m.ID, 1)
	put(meta.ImportsFile, m.ID, 1)
	if r := clean(t, dir); len(r.Notes) > 0 {
		t.Errorf("noted:\n%s", text(r))
	}
	for _, c := range []struct {
		name, kind string
		damage     func()
	}{
		{meta.DictionaryFile, verify.KindForeign, func() { put(meta.DictionaryFile, meta.FormatID([16]byte{1}), 1) }},
		{meta.ImportsFile, verify.KindMetadata, func() { check(os.WriteFile(filepath.Join(dir, meta.ImportsFile), []byte("{}"), 0o640)) }},
		{meta.DictionaryFile, verify.KindMetadata, func() { put(meta.DictionaryFile, m.ID, 0) }},
	} {
		c.damage()
		r, err := verify.Stream(context.Background(), dir)
		if err != nil || len(r.Problems) != 1 || r.Problems[0].File != c.name || r.Problems[0].Kind != c.kind {
			t.Errorf("%s: %v, %v, want %s", c.name, r, err, c.kind)
		}
		fix, err := verify.Repair(context.Background(), dir, true)
		if err != nil || len(fix.Actions) != 1 || fix.Actions[0].Op != verify.OpQuarantine || !fix.After.OK {
			t.Errorf("%s: %+v, %v", c.name, fix, err)
		}
		if _, err := os.Stat(filepath.Join(dir, c.name)); err == nil {
			t.Errorf("%s is still there", c.name)
		}
	}
	put(meta.DictionaryFile, m.ID, 2)
	r, err := verify.Stream(context.Background(), dir)
	if err != nil || len(r.Problems) != 1 || r.Problems[0].Kind != verify.KindVersion {
		t.Errorf("of a later release: %v, %v", r, err)
	}
}
