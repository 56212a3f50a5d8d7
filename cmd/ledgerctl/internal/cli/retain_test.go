package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// TestRetainDryRun: what a dry run prints is what the engine would drop, also
// where a consumer holds records.
func TestRetainDryRun(t *testing.T) {
	dir := t.TempDir()
	s, err := schema.New(schema.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	st, err := stream.Create(dir, stream.Options{Schema: s, Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, _, err := st.Append(make([]byte, 8*s.Width())); err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.Append(make([]byte, 8*s.Width())); err != nil {
		t.Fatal(err)
	}
	if err := st.Seal(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		position, hold uint64
		drops          int
	}{{0, 0, 3}, {0, 9, 1}, {0, 100, 0}, {8, 100, 2}, {16, 100, 3}} {
		consumer, err := stream.OpenConsumer(dir, "books")
		if err != nil {
			t.Fatal(err)
		}
		if err := consumer.Reset(stream.Seq(c.position)); err != nil {
			t.Fatal(err)
		}
		if err := consumer.Hold(c.hold); err != nil {
			t.Fatal(err)
		}
		plan, err := st.Retain(retention.Policy{BeforeSeq: 12}, true)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		a := &app{out: newOutput(&out), errs: &errs}
		root := newRoot(a)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs([]string{"retain", dir, "--before-seq", "12", "--dry-run"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if err := a.out.Flush(); err != nil {
			t.Fatal(err)
		}
		rows := strings.Count(out.String(), "\n") - 1
		if len(plan) != c.drops || rows != c.drops {
			t.Errorf("position %d, hold %d: the engine would drop %d segments, the dry run prints %d, want %d\n%s%s",
				c.position, c.hold, len(plan), rows, c.drops, out.String(), errs.String())
		}
		if held := strings.Contains(errs.String(), "consumer books holds the records from "); held != (c.hold > 0) {
			t.Errorf("position %d, hold %d: it says %q", c.position, c.hold, errs.String())
		}
	}
}

// TestRetainWrongRule: a rule that can't be read is wrong usage also where a writer
// has the stream.
func TestRetainWrongRule(t *testing.T) {
	s, err := schema.New(schema.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	st, err := stream.Create(dir, stream.Options{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	root := newRoot(&app{out: newOutput(io.Discard), errs: io.Discard})
	root.SetArgs([]string{"retain", dir, "--before", "soon"})
	var usage *usageError
	if err := root.Execute(); !errors.As(err, &usage) {
		t.Errorf("it says %v", err)
	}
}
