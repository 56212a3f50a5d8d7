package cli

import (
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressAfter is how long work goes on before its bar is shown.
const progressAfter = 500 * time.Millisecond

// A progress is a bar on standard error; nil is none. Any number of goroutines.
type progress struct {
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	begun time.Time
	done  int64
	shown bool
	ended bool
}

// progress begins a bar where a person looks at standard error: not in a pipe,
// not with --quiet, and not if wanted is false. It shows itself only when the
// work takes longer than a moment.
func (a *app) progress(what string, total int64, wanted bool) *progress {
	if !wanted || a.quiet || !a.errTerminal || total <= 0 {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.errs),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(200 * time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionEnableColorCodes(a.color(true)),
	}
	if what == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rec"))
	}
	return &progress{bar: progressbar.NewOptions64(total, options...), begun: time.Now()}
}

// add says that n more is done.
func (p *progress) add(n int64) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.show(p.done + n)
	}
}

// show moves the bar, once it is time for one. Under mu.
func (p *progress) show(done int64) {
	p.done = done
	if !p.ended && (p.shown || time.Since(p.begun) >= progressAfter) {
		p.shown = true
		_ = p.bar.Set64(done)
	}
}

// set says that done of total is done; the total may have changed.
func (p *progress) set(done, total int64) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bar.ChangeMax64(total)
		p.show(done)
	}
}

// end takes the bar away for good.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended = true; p.shown {
		_ = p.bar.Clear()
	}
}
