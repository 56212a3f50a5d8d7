package verify

import (
	"path"
	"path/filepath"
	"strings"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// A consumerFile is the file of a named consumer.
type consumerFile struct {
	file string // as problems name it: consumers/NAME.json
	name string
	m    meta.Consumer
	err  error // it can't be read, or doesn't check out
}

// readConsumers reads the consumers' files. One that is gone meanwhile was removed.
func (v *sight) readConsumers(fsys disk.FS) error {
	entries, err := fsys.ReadDir(filepath.Join(v.dir, meta.Consumers))
	if notExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name, ".json")
		if !ok || !e.Regular || meta.CheckName(name) != nil {
			continue
		}
		c := &consumerFile{file: path.Join(meta.Consumers, e.Name), name: name}
		b, err := readSmall(fsys, filepath.Join(v.dir, meta.Consumers, e.Name))
		switch {
		case notExist(err):
			continue
		case err != nil:
			return err
		}
		c.m, c.err = meta.DecodeConsumer(c.file, b)
		v.consumers = append(v.consumers, c)
	}
	return nil
}

// consumerFiles judges the consumers.
func (d *verdict) consumerFiles() {
	for _, c := range d.consumers {
		switch {
		case c.err != nil:
			d.problem(Problem{File: c.file, Kind: kindOfError(c.err, KindMetadata), Offset: -1, Detail: detailOf(c.err)})
		case c.m.Name != c.name:
			d.problem(Problem{File: c.file, Kind: KindForeign, Offset: -1, Detail: "of consumer " + c.m.Name})
		case d.known && c.m.ID != meta.FormatID(d.id):
			d.problem(Problem{File: c.file, Kind: KindForeign, Offset: -1, Detail: "of stream " + c.m.ID})
		}
	}
}

// consumerFiles plans to set damaged consumers aside: where they were nobody knows.
func (r *planner) consumerFiles() {
	for _, p := range r.report.Problems {
		if strings.HasPrefix(p.File, meta.Consumers+"/") {
			r.aside(p.File, 0, 0, "not a position of a consumer of this stream; it begins at 0 again, and nothing is held for it")
		}
	}
}
