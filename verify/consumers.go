package verify

import (
	"errors"
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
		c, err := readConsumer(fsys, v.dir, name)
		switch {
		case notExist(err):
			continue
		case err != nil:
			return err
		}
		v.consumers = append(v.consumers, c)
	}
	return nil
}

func readConsumer(fsys disk.FS, dir, name string) (*consumerFile, error) {
	c := &consumerFile{file: path.Join(meta.Consumers, name+".json"), name: name}
	b, err := readSmall(fsys, filepath.Join(dir, filepath.FromSlash(c.file)))
	if err == nil {
		c.m, c.err = meta.DecodeConsumer(c.file, b)
	}
	return c, err
}

// problem returns what is wrong with the file as that of a consumer of the stream
// with that id, "" if nobody knows it; ok if nothing is.
func (c *consumerFile) problem(id string) (p Problem, ok bool) {
	p = Problem{File: c.file, Kind: KindForeign, Offset: -1}
	switch {
	case c.err != nil:
		p.Kind, p.Detail = kindOfError(c.err, KindMetadata), detailOf(c.err)
	case c.m.Name != c.name:
		p.Detail = "of consumer " + c.m.Name
	case id != "" && c.m.ID != id:
		p.Detail = "of stream " + c.m.ID
	default:
		return Problem{}, true
	}
	return p, false
}

// consumerFiles judges the consumers.
func (d *verdict) consumerFiles() {
	id := ""
	if d.known {
		id = meta.FormatID(d.id)
	}
	for _, c := range d.consumers {
		if p, ok := c.problem(id); !ok {
			d.problem(p)
		}
	}
}

// consumerFiles plans to set damaged consumers aside: where they were nobody knows.
func (r *planner) consumerFiles() {
	id := meta.FormatID(r.id)
	for _, c := range r.consumers {
		if _, ok := c.problem(id); !ok {
			r.do.consumers = append(r.do.consumers, consumerMove{id: id, name: c.name, Action: Action{Op: OpQuarantine, File: c.file,
				Detail: "not a position of a consumer of this stream; it begins at 0 again, and nothing is held for it"}})
		}
	}
}

// A consumerMove sets the file of a consumer aside.
type consumerMove struct {
	Action
	id, name string
	kept     bool // a commit has written the file anew meanwhile
}

// consumersAway sets consumers aside. Unlike the rest of a stream they change
// beside a repair: a program that has its consumer open doesn't see that the file
// is damaged, and its next commit writes it anew. So each is looked at again, with
// the lock that a commit takes.
func (p *plan) consumersAway() error {
	for i := range p.consumers {
		if err := p.consumerAway(&p.consumers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) consumerAway(x *consumerMove) (err error) {
	folder := p.path(meta.Consumers)
	turn, err := disk.TakeTurn(p.fsys, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Close()) }()
	c, err := readConsumer(p.fsys, p.dir, x.name)
	if notExist(err) {
		return nil // somebody has removed it
	}
	if err == nil {
		if _, ok := c.problem(x.id); ok {
			x.kept = true
			return nil
		}
	}
	moved, err := p.copyOrMove(x.File)
	if err == nil && !moved {
		err = p.fsys.Remove(p.path(x.File))
	}
	if err != nil {
		return err
	}
	return p.fsys.SyncDir(folder)
}
