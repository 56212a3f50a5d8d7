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
			if len(args) == 0 {
				return usagef("which stream? its directory is missing")
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
	var reports []*verify.Report
	ok := true
	for _, dir := range dirs {
		r, err := a.verifyOne(ctx, dir)
		if err != nil {
			return err
		}
		reports = append(reports, r)
		ok = ok && r.OK
	}
	var err error
	switch f := l.format.v.Choose(a.outTerminal); {
	case f == listing.JSON:
		err = a.verifyObject(reports, ok)
	case f != listing.Table || !ok:
		err = a.verifyListing(reports, l)
	}
	if err != nil {
		return err
	}
	for _, r := range reports {
		a.verifySummary(r)
	}
	if !ok {
		return errDamage
	}
	return nil
}

func (a *app) verifyOne(ctx context.Context, dir string) (*verify.Report, error) {
	a.stream = dir
	bar := a.progress("bytes", 1, true)
	defer bar.end()
	r, err := verify.StreamProgress(ctx, dir, bar.set)
	if err != nil {
		return nil, err
	}
	for i, p := range r.Problems {
		r.Problems[i].File = filepath.Join(dir, p.File)
	}
	for i, n := range r.Notes {
		r.Notes[i].File = filepath.Join(dir, n.File)
	}
	return r, nil
}

// A verifiedStream is one stream in the JSON object.
type verifiedStream struct {
	Dir      string        `json:"dir"`
	OK       bool          `json:"ok"`
	Segments int           `json:"segments"`
	Journals int           `json:"journals"`
	Records  uint64        `json:"records"`
	Bytes    int64         `json:"bytes"`
	Notes    []verify.Note `json:"notes"`
}

func (a *app) verifyObject(reports []*verify.Report, ok bool) error {
	object := struct {
		OK       bool             `json:"ok"`
		Problems []verify.Problem `json:"problems"`
		Streams  []verifiedStream `json:"streams"`
	}{OK: ok, Problems: []verify.Problem{}}
	for _, r := range reports {
		object.Problems = append(object.Problems, r.Problems...)
		object.Streams = append(object.Streams, verifiedStream{
			r.Dir, r.OK, r.Segments, r.Journals, r.Records, r.Bytes, append([]verify.Note{}, r.Notes...)})
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(object)
}

func (a *app) verifyListing(reports []*verify.Report, l *listFlags) error {
	w := a.listing(l, []listing.Column{
		{Name: "file"},
		{Name: "kind"},
		{Name: "offset", Kind: listing.Number},
		{Name: "from_seq", Kind: listing.Exact},
		{Name: "to_seq", Kind: listing.Exact},
		{Name: "detail"},
	})
	var row listing.Row
	for _, r := range reports {
		for _, p := range r.Problems {
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
func (a *app) verifySummary(r *verify.Report) {
	for _, n := range r.Notes {
		a.note("%s: note: %s", n.File, n.Detail)
	}
	what := "ok"
	if !r.OK {
		what = "damaged"
	}
	a.note("%s: %s: %s in %s and %s, %s", r.Dir, what, plural(r.Records, "record"),
		plural(uint64(r.Segments), "segment"), plural(uint64(r.Journals), "journal"), value.FormatSize(r.Bytes))
}
