package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"example.com/ledger/internal/disk"
	"example.com/ledger/internal/meta"
)

// A Consumer is a named reader's durable position in a stream: the number that
// it reads next. It commits what it has dealt with, and after a crash begins
// again there: at least once. It needs no lock of the writer's and may live in
// another process; one process at a time should use a name. Changes of a stream's
// consumers take turns, whatever the processes; one that waits for more than ten
// seconds is ErrLocked. Methods may be called from any number of goroutines.
//
// On a Sealed or Os stream readers see records that a power loss may take, and
// others get their numbers then. The next Open takes a consumer that is ahead of
// what survived back to the end, so that it reads those too. One that must not
// act on what may be lost stays below Cursors().Durable.
type Consumer struct {
	fsys disk.FS
	dir  string
	id   string

	mu sync.Mutex
	c  meta.Consumer
}

// ConsumerInfo says where a consumer is.
type ConsumerInfo struct {
	Name     string
	Position Seq       // the next number that it reads
	Lag      uint64    // records published and not yet committed by it
	LagTime  int64     // the same by ts, in the stream's unit: see Stats
	Hold     uint64    // records that retention keeps for it at most; 0: none
	At       time.Time // of its last Commit or Reset; where it has none, of its first Hold
}

// HeldFrom is the number from which on retention keeps records for the consumer:
// its position, or above it where the hold is shorter than the lag. Without a
// hold it means nothing.
func (c ConsumerInfo) HeldFrom() Seq { return c.Position + Seq(c.Lag-min(c.Lag, c.Hold)) }

// OpenConsumer opens the consumer of that name of the stream in dir. A new one
// begins at number 0 and is on disk after its first Commit or Hold. Errors:
// ErrName, ErrNotFound, ErrCorrupt.
func OpenConsumer(dir, name string) (*Consumer, error) {
	return OpenConsumerOn(disk.OS(), dir, name)
}

// OpenConsumerOn is OpenConsumer on another disk, for the tests of this module.
func OpenConsumerOn(fsys disk.FS, dir, name string) (*Consumer, error) {
	if err := meta.CheckName(name); err != nil {
		return nil, fmt.Errorf("%w: consumer %w", ErrName, err)
	}
	info, err := readInfo(fsys, dir)
	if err != nil {
		return nil, err
	}
	c := &Consumer{fsys: fsys, dir: dir, id: meta.FormatID(info.ID)}
	c.c, err = readConsumer(fsys, c.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		c.c, err = meta.Consumer{ID: c.id, Name: name}, nil
	}
	if err == nil {
		err = checkConsumer(c.path(name), c.c, c.id, name)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func readConsumer(fsys disk.FS, path string) (meta.Consumer, error) {
	b, err := readWhole(fsys, path, smallFile)
	if err != nil {
		return meta.Consumer{}, err
	}
	return meta.DecodeConsumer(path, b)
}

const consumerSuffix = ".json"

func (c *Consumer) path(name string) string {
	return filepath.Join(c.dir, meta.Consumers, name+consumerSuffix)
}

// Name returns the consumer's name.
func (c *Consumer) Name() string { return c.c.Name }

// Position is the number that the consumer reads next: where its Tail begins.
func (c *Consumer) Position() Seq {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Seq(c.c.Position)
}

// Held is the number of records that retention keeps for the consumer at most; 0
// if it has no hold.
func (c *Consumer) Held() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.c.Hold
}

// Commit says that all below next has been dealt with. When it returns nil that
// is on disk. It goes forward only: below the position the error is ErrRange. It
// is not compared with the stream's end.
func (c *Consumer) Commit(next Seq) error {
	return c.change(func(m *meta.Consumer, _ meta.Consumer) error {
		if uint64(next) < m.Position {
			return fmt.Errorf("%w: consumer %s is at %d, and %d is behind that", ErrRange, m.Name, m.Position, next)
		}
		m.Position, m.At = uint64(next), time.Now().UTC()
		return nil
	})
}

// Reset sets the position, back too: what follows is read again.
func (c *Consumer) Reset(next Seq) error {
	return c.change(func(m *meta.Consumer, _ meta.Consumer) error {
		m.Position, m.At = uint64(next), time.Now().UTC()
		return nil
	})
}

// Hold asks the writer's retention to keep what this consumer has not committed,
// but at most the newest records of the stream, so that one that died doesn't
// fill the disk. 0 ends that. An operator may set it too, while the consumer is
// at work: Hold keeps the position that is on disk, Commit and Reset the hold.
func (c *Consumer) Hold(records uint64) error {
	return c.change(func(m *meta.Consumer, now meta.Consumer) error {
		m.Position, m.At, m.Hold = now.Position, now.At, records
		return nil
	})
}

// change replaces the file; now is what it had. After an error the position is as
// it was.
func (c *Consumer) change(f func(m *meta.Consumer, now meta.Consumer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	folder := filepath.Join(c.dir, meta.Consumers)
	if err := makeDirs(c.fsys, folder); err != nil {
		return err
	}
	turn, err := disk.TakeTurn(c.fsys, folder) // a change reads the file and writes it back
	if err != nil {
		return fmt.Errorf("ledger: consumer %s: %w", c.c.Name, err)
	}
	defer turn.Close()
	m, now := c.c, c.c
	if read, err := readConsumer(c.fsys, c.path(m.Name)); err == nil && read.ID == c.id {
		now = read
	} else if errors.Is(err, fs.ErrNotExist) {
		now = meta.Consumer{} // removed, and what it held with it
	}
	m.Hold = now.Hold
	if err := f(&m, now); err != nil {
		return err
	}
	if m.At.IsZero() {
		m.At = time.Now().UTC()
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	late, err := disk.Replace(c.fsys, c.path(m.Name), disk.Content(b))
	if err = errors.Join(late, err); err != nil {
		return fmt.Errorf("ledger: consumer %s: %w", m.Name, err)
	}
	c.c = m
	return nil
}

// Remove forgets the consumer, and what it held.
func (c *Consumer) Remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := removeConsumer(c.fsys, c.dir, c.c.Name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	c.c.Position, c.c.Hold, c.c.At = 0, 0, time.Time{}
	return err
}

// RemoveConsumer forgets the consumer of that name of the stream in dir, and what
// it held, also where its file is damaged. Errors: ErrName, ErrNotFound.
func RemoveConsumer(dir, name string) error {
	if err := meta.CheckName(name); err != nil {
		return fmt.Errorf("%w: consumer %w", ErrName, err)
	}
	if _, err := readInfo(disk.OS(), dir); err != nil {
		return err
	}
	return removeConsumer(disk.OS(), dir, name)
}

func removeConsumer(fsys disk.FS, dir, name string) error {
	folder := filepath.Join(dir, meta.Consumers)
	turn, err := disk.TakeTurn(fsys, folder)
	if err == nil {
		defer turn.Close()
		err = fsys.Remove(filepath.Join(folder, name+consumerSuffix))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no consumer %s of %s", ErrNotFound, name, dir)
	}
	if err == nil {
		err = fsys.SyncDir(folder)
	}
	return err
}

// consumers reads all consumers of a stream, by name. next is the stream's end.
// Those that can't be read are left out, and the error is theirs.
func consumers(fsys disk.FS, dir string, id [16]byte, next uint64) (out []ConsumerInfo, err error) {
	folder := filepath.Join(dir, meta.Consumers)
	entries, err := fsys.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name, consumerSuffix)
		if !ok || !e.Regular || meta.CheckName(name) != nil {
			continue
		}
		path := filepath.Join(folder, e.Name)
		m, err := readConsumer(fsys, path)
		if err == nil {
			err = checkConsumer(path, m, meta.FormatID(id), name)
		}
		if err == nil {
			out = append(out, ConsumerInfo{Name: m.Name, Position: Seq(m.Position), Lag: next - min(next, m.Position), Hold: m.Hold, At: m.At})
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// checkConsumer tells whether the file is that of a consumer of the stream.
func checkConsumer(path string, m meta.Consumer, id, name string) error {
	if m.ID != id || m.Name != name {
		return &CorruptError{Path: path, Offset: -1, Detail: "of another stream or consumer"}
	}
	return nil
}

// rewindConsumers takes consumers that are beyond the stream's end back to it: a
// power loss took records that they had committed, and others will get the same
// numbers. Those that can't be read tell whoever opens them.
func (s *Stream) rewindConsumers() error {
	cs, _ := consumers(s.fsys, s.dir, s.id, s.appended)
	for _, i := range cs {
		if uint64(i.Position) <= s.appended {
			continue
		}
		c, err := OpenConsumerOn(s.fsys, s.dir, i.Name)
		if err == nil {
			err = c.Reset(Seq(s.appended))
		}
		if err != nil {
			return err
		}
		s.tell(Event{Kind: EventRewound, From: Seq(s.appended), To: i.Position, Err: fmt.Errorf("consumer %s was ahead of what is there", i.Name)})
	}
	return nil
}

// Consumers tells where the stream's consumers are, by name. Beside those that
// can't be read it returns the others. The error is ErrCorrupt, or the disk's.
func (s *Stream) Consumers() ([]ConsumerInfo, error) {
	n, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	defer n.Close()
	return n.consumers(s.fsys, s.dir, s.id)
}

// Consumers tells where the stream's consumers are. See Stream.Consumers.
func (r *Reader) Consumers() ([]ConsumerInfo, error) {
	n, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	defer n.Close()
	return n.consumers(r.fsys, r.dir, r.gone.id)
}

// consumers tells where consumers are in a snapshot.
func (n *Snapshot) consumers(fsys disk.FS, dir string, id [16]byte) ([]ConsumerInfo, error) {
	var st Stats
	if err := st.add(n); err != nil {
		return nil, err
	}
	return st.consumersOf(n, fsys, dir, id)
}

// held is the number from which on retention keeps everything, and the consumer
// that asked for it; ok is false if none does.
func held(cs []ConsumerInfo) (from uint64, name string, ok bool) {
	for _, c := range cs {
		if c.Hold == 0 {
			continue
		}
		if at := uint64(c.HeldFrom()); !ok || at < from {
			from, name, ok = at, c.Name, true
		}
	}
	return from, name, ok
}
