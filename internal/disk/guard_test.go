package disk

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGuard(t *testing.T) {
	fail := errors.New("of f's own")
	for _, want := range []error{nil, fail} {
		if err := Guard(func() error { return want }); err != want {
			t.Errorf("Guard = %v, want %v", err, want)
		}
	}

	// Panics that are no fault go on: a nil pointer, too, is a bug of ours.
	for name, f := range map[string]func() error{
		"value":  func() error { panic(fail) },
		"index":  func() error { var none []int; return errors.New(string(rune(none[0]))) },
		"nil":    func() error { var p *int; *p = 1; return nil },
		"nested": func() error { return Guard(func() error { panic(fail) }) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the panic ended in Guard")
				}
				if debug.SetPanicOnFault(false) {
					t.Error("faults are panics after Guard")
				}
			}()
			t.Errorf("Guard = %v", Guard(f))
		})
	}

	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- Guard(func() error { runtime.Goexit(); return nil })
	}()
	if err, sent := <-done; sent {
		t.Errorf("Guard returned %v from a goroutine that had ended", err)
	}
}
