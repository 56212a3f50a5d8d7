package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress is a bar on standard error; nil is none.
type progress struct{ bar *progressbar.ProgressBar }

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
	return &progress{progressbar.NewOptions64(total, options...)}
}

func (p *progress) add(n int64) {
	if p != nil {
		_ = p.bar.Add64(n)
	}
}

// set says that done of total is done; the total may have changed.
func (p *progress) set(done, total int64) {
	if p != nil {
		p.bar.ChangeMax64(total)
		_ = p.bar.Set64(done)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
