package stream

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.com/ledger/internal/meta"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Seq is the position of a record in its stream: 0 for the first one ever
// appended, then 1, 2, 3, with no gaps. It is never renumbered; one that was
// durable is never used for another record.
type Seq uint64

// Durability says what is on disk when Append returns. It is written to disk:
// never renumber one.
type Durability uint8

const (
	// Commit: a sync covers the batch. It survives power loss.
	Commit Durability = 0
	// Sealed: the batch is in the journal, in the system's page cache. It
	// survives the death of the process; a power loss may take what is not sealed.
	Sealed Durability = 1
	// Os: as Sealed, and sealing doesn't sync either.
	Os Durability = 2
)

var durabilityNames = [...]string{"commit", "sealed", "os"}

// String is the name that ParseDurability reads.
func (d Durability) String() string {
	if int(d) < len(durabilityNames) {
		return durabilityNames[d]
	}
	return fmt.Sprintf("durability(%d)", uint8(d))
}

// ParseDurability reads "commit", "sealed" or "os".
func ParseDurability(s string) (Durability, error) {
	for i, n := range durabilityNames {
		if s == n {
			return Durability(i), nil
		}
	}
	return 0, fmt.Errorf("%w: durability %q is not commit, sealed or os", ErrOption, s)
}

// Limits of a segment's capacity, in records.
const (
	CapacityDefault = 65536
	CapacityMax     = 1 << 24

	// firstSeqMax leaves room for more records than anybody will append.
	firstSeqMax = 1 << 62
)

// Options say what a new stream is. The zero value but for Schema is a safe
// default: Commit, columns, 65,536 records a segment, keep all.
type Options struct {
	Schema     *schema.Schema   // required
	Capacity   int              // records a segment, 1 to CapacityMax; 0 means CapacityDefault
	Durability Durability       // what is on disk when Append returns
	Layout     segment.Layout   // of sealed segments
	SyncEvery  time.Duration    // Sealed and Os: sync this often; 0 means never. At least 1 ms
	Retention  retention.Policy // standing: applied at open and after each seal
	RoomWait   time.Duration    // as in OpenOptions; not stored
	FirstSeq   Seq              // the first record's number, for a stream that goes on with another's

	Logger  *slog.Logger     // nil discards
	OnEvent func(Event)      // nil for none; called in order, in a goroutine of its own
	Now     func() time.Time // nil means time.Now; for sealed_at and ages

	// OnSync, if not nil, is called behind each fdatasync of a journal with the
	// time it took, in the goroutine that waited for it: it must be quick, and
	// not call the stream, which would wait for itself.
	OnSync func(took time.Duration)
}

// OpenOptions are what an opener chooses; what the stream is was stored by Create.
type OpenOptions struct {
	// Schema, if not nil, must be equal to the stored one.
	Schema *schema.Schema
	// Durability, if not nil, must be the stored one.
	Durability *Durability
	// RoomWait bounds how long an append waits where its segment can't be begun
	// because too many wait to be sealed: 0 means as long as it takes, a negative
	// value not at all. Beyond it the append fails with ErrBusy, and nothing of it
	// is appended.
	RoomWait time.Duration

	Logger  *slog.Logger     // nil discards
	OnEvent func(Event)      // nil for none; called in order, in a goroutine of its own
	Now     func() time.Time // nil means time.Now

	// OnSync, if not nil, is called behind each fdatasync of a journal with the
	// time it took, in the goroutine that waited for it: it must be quick, and
	// not call the stream, which would wait for itself.
	OnSync func(took time.Duration)
}

// Info says what a stream is.
type Info struct {
	Dir        string
	ID         [16]byte
	Schema     *schema.Schema
	Capacity   int
	Durability Durability
	Layout     segment.Layout
	SyncEvery  time.Duration
	Retention  retention.Policy
	CreatedAt  time.Time
}

func (o Options) withDefaults() Options {
	if o.Capacity == 0 {
		o.Capacity = CapacityDefault
	}
	return o
}

// validate reports all problems at once.
func (o Options) validate() error {
	var errs []error
	bad := func(format string, a ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOption}, a...)...))
	}
	if o.Schema == nil {
		bad("no schema")
	} else if o.Schema.Unit() == 0 {
		bad("the schema is the zero Schema: schema.New makes one")
	}
	if o.Capacity < 1 || o.Capacity > CapacityMax {
		bad("capacity %d is not 1 to %d records", o.Capacity, CapacityMax)
	}
	if o.Durability > Os {
		bad("durability %d", o.Durability)
	}
	if o.Layout != segment.Columns && o.Layout != segment.Rows {
		bad("layout %d", o.Layout)
	}
	if o.FirstSeq > firstSeqMax {
		bad("first number %d is above %d", o.FirstSeq, uint64(firstSeqMax))
	}
	switch {
	case o.SyncEvery != 0 && o.Durability == Commit:
		bad("a Commit stream syncs each batch: SyncEvery is for Sealed and Os")
	case o.SyncEvery != 0 && o.SyncEvery < time.Millisecond:
		bad("SyncEvery %v is not at least 1ms", o.SyncEvery)
	}
	if err := o.Retention.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("%w: %w", ErrOption, err))
	}
	return errors.Join(errs...)
}

// meta returns the stored form of an Info.
func (i Info) meta() meta.Stream {
	return meta.Stream{ID: meta.FormatID(i.ID), Schema: i.Schema, Capacity: i.Capacity, Durability: i.Durability.String(),
		Layout: i.Layout.String(), SyncEvery: i.SyncEvery, Retention: i.Retention, CreatedAt: i.CreatedAt}
}

// infoOf is the inverse of meta. path is for errors only.
func infoOf(dir, path string, m meta.Stream) (Info, error) {
	corrupt := func(err error) (Info, error) {
		return Info{}, &CorruptError{Path: path, Offset: -1, Err: err}
	}
	id, err := meta.ParseID(m.ID)
	if err != nil {
		return corrupt(err)
	}
	d, err := ParseDurability(m.Durability)
	if err != nil {
		return corrupt(err)
	}
	l, err := segment.ParseLayout(m.Layout)
	if err != nil {
		return corrupt(err)
	}
	o := Options{Schema: m.Schema, Capacity: m.Capacity, Durability: d, Layout: l, SyncEvery: m.SyncEvery, Retention: m.Retention}
	if err := o.validate(); err != nil {
		return corrupt(err)
	}
	return Info{Dir: dir, ID: id, Schema: m.Schema, Capacity: m.Capacity, Durability: d, Layout: l,
		SyncEvery: m.SyncEvery, Retention: m.Retention, CreatedAt: m.CreatedAt}, nil
}
