// Package ledger opens the streams of one directory: a stream for each symbol,
// or orders beside fills. It names, lists, creates, opens and closes them, and
// reads several of them as one tape in the order of time.
//
// The engine is package stream; a program that has one stream needs no Ledger.
package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"example.com/ledger/internal/meta"
	"example.com/ledger/stream"
)

// Errors of this package, beside those of package stream.
var (
	// ErrName: a stream's name is 1 to 64 letters, digits, '_', '-' and '.', not
	// beginning with '.' or '-'. It can't leave its root.
	ErrName = stream.ErrName
	// ErrClosed: the ledger has been closed.
	ErrClosed = stream.ErrClosed
)

// A Ledger is a root directory and the streams in it that this process has
// open. Its methods may be called from any number of goroutines. The mappings
// of all streams share one budget, so that thousands of streams stay within the
// system's limits.
type Ledger struct {
	root string
	o    stream.OpenOptions

	mu     sync.Mutex
	open   map[string]*stream.Stream
	closed bool
}

// Open opens a root directory, which is made if it is not there. o is used for
// every stream that is opened through it; no stream is opened yet.
func Open(root string, o stream.OpenOptions) (*Ledger, error) {
	if err := os.MkdirAll(root, 0o750); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return &Ledger{root: root, o: o, open: make(map[string]*stream.Stream)}, nil
}

// Dir returns the directory of the stream of that name, there or not. The error
// is ErrName.
func (l *Ledger) Dir(name string) (string, error) {
	if err := meta.CheckName(name); err != nil {
		return "", fmt.Errorf("%w: %w", ErrName, err)
	}
	return filepath.Join(l.root, name), nil
}

// Create makes a stream and opens it. See stream.Create.
func (l *Ledger) Create(name string, o stream.Options) (*stream.Stream, error) {
	return l.use(name, func(dir string) (*stream.Stream, error) { return stream.Create(dir, o) }, true)
}

// Stream returns the stream of that name, open for writing: the same one for
// everybody who asks. Close the Ledger, not the stream. See stream.Open.
func (l *Ledger) Stream(name string) (*stream.Stream, error) {
	return l.use(name, func(dir string) (*stream.Stream, error) { return stream.Open(dir, l.o) }, false)
}

func (l *Ledger) use(name string, open func(dir string) (*stream.Stream, error), fresh bool) (*stream.Stream, error) {
	dir, err := l.Dir(name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if s := l.open[name]; s != nil {
		if fresh {
			return nil, fmt.Errorf("%w: %s", stream.ErrExists, name)
		}
		return s, nil
	}
	s, err := open(dir)
	if err != nil {
		return nil, err
	}
	l.open[name] = s
	return s, nil
}

// List returns the names of the streams in the root, open or not, sorted.
// Folders that are no streams are passed over.
func (l *Ledger) List() ([]string, error) {
	entries, err := os.ReadDir(l.root)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() || meta.CheckName(e.Name()) != nil {
			continue
		}
		_, err := os.Lstat(filepath.Join(l.root, e.Name(), meta.StreamFile))
		if err == nil {
			names = append(names, e.Name())
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("ledger: %w", err)
		}
	}
	sort.Strings(names)
	return names, nil
}

// CloseStream closes one stream, if it is open.
func (l *Ledger) CloseStream(name string) error {
	l.mu.Lock()
	s := l.open[name]
	delete(l.open, name)
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Close()
}

// Remove closes and deletes a stream. See stream.Remove.
func (l *Ledger) Remove(name string) error {
	dir, err := l.Dir(name)
	if err != nil {
		return err
	}
	if err := l.CloseStream(name); err != nil {
		return err
	}
	return stream.Remove(dir)
}

// Close closes all streams, and the Ledger. A second time it returns ErrClosed.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.closed = true
	var wg sync.WaitGroup
	errs := make([]error, len(l.open))
	i := 0
	for name, s := range l.open {
		at := &errs[i]
		wg.Go(func() {
			if err := s.Close(); err != nil {
				*at = fmt.Errorf("%s: %w", name, err)
			}
		})
		i++
	}
	wg.Wait()
	return errors.Join(errs...)
}
