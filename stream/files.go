package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
	"example.com/ledger/segment"
)

// writeMeta replaces stream.json. Of its errors, as of those of disk.Replace, late
// is final; after err nothing has changed.
func writeMeta(fsys disk.FS, i Info) (late, err error) {
	b, err := i.meta().Encode()
	if err != nil {
		return nil, err
	}
	return disk.Replace(fsys, filepath.Join(i.Dir, meta.StreamFile), disk.Content(b))
}

// writeDrops replaces drops.json.
func writeDrops(fsys disk.FS, dir string, d meta.Drops) (late, err error) {
	b, err := d.Encode()
	if err != nil {
		return nil, err
	}
	return disk.Replace(fsys, filepath.Join(dir, meta.DropsFile), disk.Content(b))
}

// makeCursors puts an empty cursors page in place. It is a hint between
// processes: it is never synced, and recovery does without.
func makeCursors(fsys disk.FS, dir string) error {
	return disk.Make(fsys, filepath.Join(dir, meta.CursorFile), false, disk.Content(make([]byte, meta.CursorSize)))
}

// openCursors maps the cursors page, made anew if it is not a whole one.
func openCursors(fsys disk.FS, dir string) (disk.Mapping, error) {
	path := filepath.Join(dir, meta.CursorFile)
	f, err := fsys.OpenRW(path)
	if err == nil {
		n, serr := f.Size()
		if serr != nil || n != meta.CursorSize {
			_ = f.Close()
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeCursors(fsys, dir); err != nil {
			return nil, err
		}
		f, err = fsys.OpenRW(path)
	}
	if err != nil {
		return nil, err
	}
	m, err := f.Map(meta.CursorSize, true)
	if cerr := f.Close(); err == nil && cerr != nil {
		_ = m.Unmap()
		return nil, cerr
	}
	return m, err
}

// quarantine returns the folder of what is set aside, made and on disk.
func quarantine(fsys disk.FS, dir string) (string, error) {
	q := filepath.Join(dir, meta.Quarantine)
	err := fsys.Mkdir(q)
	if errors.Is(err, fs.ErrExist) {
		return q, nil
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	return q, err
}

// setAside moves a file of the stream to quarantine under a name that is not
// taken, and returns that name. The caller syncs both directories.
func setAside(fsys disk.FS, dir, name string) (string, error) {
	q, err := quarantine(fsys, dir)
	if err != nil {
		return "", err
	}
	to, err := freeName(fsys, q, name)
	if err != nil {
		return "", err
	}
	return to, fsys.Rename(filepath.Join(dir, name), filepath.Join(q, to))
}

// freeName is name, or name with a number, so that nothing is replaced.
func freeName(fsys disk.FS, dir, name string) (string, error) {
	to := name
	for i := 1; ; i++ {
		_, err := fsys.Stat(filepath.Join(dir, to))
		if errors.Is(err, fs.ErrNotExist) {
			return to, nil
		}
		if err != nil {
			return "", err
		}
		to = fmt.Sprintf("%s.%d", name, i)
	}
}

// checkWhole checks all of a file and unmaps it again.
func checkWhole(f *segment.File) error {
	defer f.Evict()
	return f.Check(context.Background())
}

func orNow(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}
