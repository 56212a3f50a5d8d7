package cli

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress: a bar is for a person who waits, and gone in the end.
func TestProgress(t *testing.T) {
	for _, a := range []*app{{errTerminal: false}, {errTerminal: true, quiet: true}} {
		p := a.progress("bytes", 100, true)
		if p != nil {
			t.Errorf("a bar for %+v", a)
		}
		p.add(1)
		p.set(1, 2)
		p.end()
	}
	var b bytes.Buffer
	a := &app{errTerminal: true, noColor: true, errs: &b}
	if a.progress("bytes", 100, false) != nil || a.progress("bytes", 0, true) != nil {
		t.Error("a bar that nobody wants, or of nothing")
	}
	p := a.progress("records", 100, true)
	p.add(50)
	p.end()
	if b.Len() > 0 {
		t.Errorf("work that took no time shows %q", b.String())
	}
	p = a.progress("bytes", 1, true)
	p.begun = time.Now().Add(-time.Minute)
	p.set(50, 200)
	if !bytes.Contains(b.Bytes(), []byte("25%")) {
		t.Errorf("a quarter of the work shows %q", b.String())
	}
	p.end()
	n := b.Len()
	p.add(1)
	p.end()
	if b.Len() > n+200 || bytes.Contains(b.Bytes()[n:], []byte("%")) {
		t.Errorf("after its end the bar shows %q", b.Bytes()[n:])
	}
}
