package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/listing"
	"example.com/ledger/verify"
)

func newInspect(a *app) *cobra.Command {
	l := &listFlags{}
	cmd := a.verb(&cobra.Command{
		Use:   "inspect FILE [flags]",
		Short: "Tell what every byte of a file means",
		Long: `Tell what every byte of one file of a stream means: a sealed segment (one of the
original engine included), a journal, stream.json, drops.json, the cursors page,
a consumer's file, dictionary.json or imports.json, in quarantine too. It needs
no stream around the file, does all checks that the file alone allows, and
changes nothing. The exit code is 3 if a check fails.

  class  data (records), meta (what says where and what they are), free (bytes
         whose change can't change any record)
  check  ok, bad, or - where nothing proves these bytes`,
		Example: `  ledgerctl inspect data/fills/00000000000000000000.seg
  ledgerctl inspect data/fills/consumers/risk.json
  ledgerctl inspect data/fills/journal.0 --format jsonl | grep '"check":"bad"'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which file? name one, such as a .seg file, a journal or stream.json")
			}
			return nil
		},
	}, func(_ context.Context, args []string) error { return a.inspect(args[0], l) })
	l.addFormat(cmd)
	return cmd
}

func (a *app) inspect(path string, l *listFlags) error {
	layout, err := verify.Inspect(path)
	if err != nil {
		if info, serr := os.Stat(path); serr == nil && info.IsDir() {
			err = &hintedError{err, "inspect reads one file of a stream; ledgerctl verify " + path + " reads all"}
		}
		return err
	}
	w := a.listing(l, []listing.Column{
		{Name: "offset", Kind: listing.Number},
		{Name: "length", Kind: listing.Number},
		{Name: "class"},
		{Name: "check"},
		{Name: "meaning"},
		{Name: "value"},
		{Name: "detail"},
	})
	var row listing.Row
	bad := 0
	for _, r := range layout.Ranges {
		row.Reset()
		row.Int(r.Offset)
		row.Int(r.Length)
		row.Text(string(r.Class))
		row.Text(string(r.Check))
		row.Text(r.Meaning)
		row.Text(r.Value)
		row.Text(r.Detail)
		if r.Check == verify.Bad {
			bad++
		}
		if err := w.Write(&row); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if layout.OK() {
		return nil
	}
	a.note("ledgerctl: %s: %d of %d ranges are bad; ledgerctl verify tells what that means for the stream", path, bad, len(layout.Ranges))
	return errDamage
}
