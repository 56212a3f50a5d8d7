package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// pending marks sealed files that a repair has written and not yet named. No
// writer removes them, and the next repair takes them into account.
const pending = ".repair"

// apply carries the plan out. The order makes a crash at any point harmless:
//
//  1. stream.json, which says what everything else is.
//  2. All new sealed files, on disk under pending names.
//  3. Copies of what they replace, in quarantine; then their own names, oldest
//     first. At every instant a record is in its old file or in a new one.
//  4. Copies, in quarantine, of all else that has to go.
//  5. drops.json. Until it is there the lost numbers are missing, and no writer
//     goes on above them. From then on a writer would unlink the damaged files
//     whose range it names: that is why their copies come first.
//  6. The names of what was copied go.
//  7. Consumers, each by itself.
//
// Each step is on disk before the next one begins. ctx is asked between them.
func (p *plan) apply(ctx context.Context) error {
	steps := []func() error{p.writeMetadata, p.writeImages, p.nameImages, p.writeHeaders, p.copyAway, p.writeDrops, p.removeAway, p.consumersAway}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) path(name string) string { return filepath.Join(p.dir, name) }

func (p *plan) writeMetadata() error {
	for _, x := range p.metadata {
		if err := p.copyAside(x.File); err != nil {
			return err
		}
		if err := p.replace(x.File, x.data); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) writeImages() error {
	for _, x := range p.images {
		if x.encode == nil {
			continue // an interrupted repair did
		}
		b, err := x.encode()
		if err != nil {
			return fmt.Errorf("%s: %w", x.File, err)
		}
		if err := p.copyAside(x.File + pending); err != nil {
			return err
		}
		if err := disk.Make(p.fsys, p.path(x.File+pending), true, disk.Content(b)); err != nil {
			return err
		}
	}
	if len(p.images) == 0 {
		return nil
	}
	return p.fsys.SyncDir(p.dir)
}

// nameImages writes each image once more, to its own name. One may be made of
// what another replaces, so all stay under their pending names until all names
// are on disk: a rename that is not may leave a file under neither.
func (p *plan) nameImages() error {
	for _, x := range p.images {
		if err := p.copyAside(x.File); err != nil {
			return err
		}
	}
	for _, x := range p.images {
		b, err := readBytes(p.fsys, p.path(x.File+pending))
		if err != nil {
			return err
		}
		if err := p.replace(x.File, b); err != nil {
			return err
		}
	}
	for _, x := range p.images {
		if err := p.fsys.Remove(p.path(x.File + pending)); err != nil {
			return err
		}
	}
	if len(p.images) == 0 {
		return nil
	}
	return p.fsys.SyncDir(p.dir)
}

func (p *plan) writeHeaders() error {
	for _, x := range p.headers {
		f, err := p.fsys.OpenRW(p.path(x.File))
		if err != nil {
			return err
		}
		_, err = f.WriteAt(x.data, x.at)
		if err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyAway copies what has to go to quarantine. What can't be copied, because the
// disk can't read it or has no room, moves there at once.
func (p *plan) copyAway() error {
	moved := false
	for i, x := range p.away {
		done, err := p.copyOrMove(x.File)
		if err != nil {
			return err
		}
		p.away[i].done, moved = done, moved || done
	}
	if !moved {
		return nil
	}
	return p.fsys.SyncDir(p.dir)
}

// copyOrMove puts a copy of a file into quarantine, or the file itself where it
// can't be copied: moved says so. Its folder is not synced.
func (p *plan) copyOrMove(name string) (moved bool, err error) {
	cerr := p.copyAside(name)
	if cerr == nil {
		return false, nil
	}
	to, _, err := p.quarantine(name, nil)
	if err == nil {
		err = p.fsys.Rename(p.path(name), to)
	}
	if err != nil {
		return false, errors.Join(cerr, err)
	}
	return true, p.fsys.SyncDir(p.path(meta.Quarantine))
}

func (p *plan) removeAway() error {
	for _, x := range p.away {
		if x.done {
			continue
		}
		if err := p.fsys.Remove(p.path(x.File)); err != nil {
			return err
		}
	}
	if len(p.away) == 0 {
		return nil
	}
	return p.fsys.SyncDir(p.dir)
}

func (p *plan) writeDrops() error {
	if p.drops == nil {
		return nil
	}
	if p.drops.Detail != "" { // the old one can't be read
		if err := p.copyAside(p.drops.File); err != nil {
			return err
		}
	}
	return p.replace(p.drops.File, p.drops.data)
}

// replace gives a file its content in one step, on disk when it returns.
func (p *plan) replace(name string, b []byte) error {
	late, err := disk.Replace(p.fsys, p.path(name), disk.Content(b))
	return errors.Join(late, err)
}

// quarantine makes the folder of what is set aside and returns the path in it
// for a file of that name. there tells that the path has just that content, if
// content is not nil; otherwise it is free.
func (p *plan) quarantine(name string, content []byte) (path string, there bool, err error) {
	dir := p.path(meta.Quarantine)
	if _, err := p.fsys.Stat(dir); notExist(err) {
		if err := errors.Join(p.fsys.Mkdir(dir), p.fsys.SyncDir(p.dir)); err != nil {
			return "", false, err
		}
	}
	name = filepath.Base(name) // a consumer's has its folder before it
	path = filepath.Join(dir, name)
	for i := 1; ; i++ {
		if _, err := p.fsys.Stat(path); notExist(err) {
			return path, false, nil
		} else if err != nil {
			return "", false, err
		}
		if content != nil {
			if old, err := readBytes(p.fsys, path); err == nil && bytes.Equal(old, content) {
				return path, true, nil
			}
		}
		path = filepath.Join(dir, fmt.Sprintf("%s.%d", name, i))
	}
}

// copyAside puts a copy of a file, if there is one, into quarantine, on disk,
// unless an earlier repair did.
func (p *plan) copyAside(name string) error {
	b, err := readBytes(p.fsys, p.path(name))
	if notExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	path, there, err := p.quarantine(name, b)
	switch {
	case err != nil:
		return err
	case there:
		err = p.sync(path) // it may not be on disk yet
	default:
		err = disk.Make(p.fsys, path, true, disk.Content(b))
	}
	if err != nil {
		return err
	}
	return p.fsys.SyncDir(p.path(meta.Quarantine))
}

func (p *plan) sync(path string) error {
	f, err := p.fsys.OpenRW(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readBytes reads a file whole.
func readBytes(fsys disk.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return (&source{ctx: context.Background(), r: f, size: size}).all(1 << 40)
}
