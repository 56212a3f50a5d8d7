package cli

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/verify"
)

func newVerify(a *app) *cobra.Command {
	l := &listFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "verify DIR... [flags]",
		Short: "Check everything, report every problem, change nothing",
		Long: `Check everything in one or more streams: metadata, headers, footers, columns,
padding, numbers, gaps and journals. It reads the files without the engine,
beside a live writer too, and changes nothing. All problems are reported, a row
each; the exit code is 3 if there are any.

What a crash may leave and the next writer mends, such as a torn tail, is no
problem. --format json prints one object: {"ok":…,"problems":[…],"streams":[…]}.`,
		Example: `  ledgerctl verify data/fills
  ledgerctl verify data/* --format json | jq .ok`,
		Args: func(_ *cobra.Command, args []string) error {
			if err := someStreams(args); err != nil {
				return err
			}
			a.stream = args[0]
			return nil
		},
		ValidArgsFunction: directories(false),
	}, func(ctx context.Context, args []string) error { return a.verify(ctx, args, l) })
	l.addFormat(cmd)
	return cmd
}

func (a *app) verify(ctx context.Context, dirs []string, l *listFlags) error {
	var list []verified
	result := error(nil)
	for _, dir := range dirs {
		v := a.verifyOne(ctx, dir)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case v.err != nil && len(dirs) == 1:
			return v.err
		case v.err == nil && !v.OK:
			result = errDamage
		case v.err != nil && result == nil:
			result = errShown
		}
		list = append(list, v)
	}
	var err error
	switch f := l.format.v.Choose(a.outTerminal); {
	case f == listing.JSON:
		err = a.verifyObject(list, result == nil)
	case f != listing.Table || result == errDamage:
		err = a.verifyListing(list, l)
	}
	if err != nil {
		return err
	}
	for _, v := range list {
		a.verifySummary(v)
	}
	return result
}

// A verified is one stream's report, or why there is none.
type verified struct {
	*verify.Report
	err error
}

func (a *app) verifyOne(ctx context.Context, dir string) verified {
	bar := a.progress("bytes", 1, true)
	defer bar.end()
	r, err := verify.StreamProgress(ctx, dir, bar.set)
	if err != nil {
		return verified{&verify.Report{Dir: dir}, err}
	}
	for i, p := range r.Problems {
		r.Problems[i].File = filepath.Join(dir, p.File)
	}
	for i, n := range r.Notes {
		r.Notes[i].File = filepath.Join(dir, n.File)
	}
	return verified{r, nil}
}

// A verifiedStream is one stream in the JSON object.
type verifiedStream struct {
	Dir      string        `json:"dir"`
	OK       bool          `json:"ok"`
	Error    string        `json:"error,omitempty"`
	Segments int           `json:"segments"`
	Journals int           `json:"journals"`
	Records  uint64        `json:"records"`
	Bytes    int64         `json:"bytes"`
	Notes    []verify.Note `json:"notes"`
}

func (a *app) verifyObject(list []verified, ok bool) error {
	object := struct {
		OK       bool             `json:"ok"`
		Problems []verify.Problem `json:"problems"`
		Streams  []verifiedStream `json:"streams"`
	}{OK: ok, Problems: []verify.Problem{}}
	for _, v := range list {
		text := ""
		if v.err != nil {
			text = oneLine(v.err)
		}
		object.Problems = append(object.Problems, v.Problems...)
		object.Streams = append(object.Streams, verifiedStream{
			v.Dir, v.OK, text, v.Segments, v.Journals, v.Records, v.Bytes, append([]verify.Note{}, v.Notes...)})
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(object)
}

func (a *app) verifyListing(list []verified, l *listFlags) error {
	w := a.listing(l, []listing.Column{
		{Name: "file"},
		{Name: "kind"},
		{Name: "offset", Kind: listing.Number},
		{Name: "from_seq", Kind: listing.Exact},
		{Name: "to_seq", Kind: listing.Exact},
		{Name: "detail"},
	})
	var row listing.Row
	for _, v := range list {
		for _, p := range v.Problems {
			row.Reset()
			row.Text(p.File)
			row.Text(p.Kind)
			row.Int(p.Offset)
			row.Uint(p.FromSeq)
			row.Uint(p.ToSeq)
			row.Text(p.Detail)
			if err := w.Write(&row); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// verifySummary tells a person how it went.
func (a *app) verifySummary(v verified) {
	if v.err != nil {
		a.complain(v.err, a.hint(v.err))
		return
	}
	for _, n := range v.Notes {
		a.note("%s: note: %s", n.File, n.Detail)
	}
	what := "ok"
	if !v.OK {
		what = "damaged"
	}
	a.note("%s: %s: %s in %s and %s, %s", v.Dir, what, plural(v.Records, "record"),
		plural(uint64(v.Segments), "segment"), plural(uint64(v.Journals), "journal"), value.FormatSize(v.Bytes))
}
