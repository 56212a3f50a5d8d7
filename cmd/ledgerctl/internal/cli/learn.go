package cli

import (
	"fmt"
	"slices"
	"sync"

	"example.com/ledger/cmd/ledgerctl/internal/dictionary"
	"example.com/ledger/schema"
	"example.com/ledger/stream"
)

// A learner turns the texts of what is appended into numbers, and gives new ones
// numbers where it is asked to. The feed's goroutine asks, the appender saves.
type learner struct {
	dir   string
	s     *schema.Schema
	learn map[string]bool   // fields whose new texts get numbers
	used  map[string]uint64 // by field that learns: the highest number on disk, or in a record

	mu    sync.Mutex
	d     *dictionary.Dictionary
	steps *dictionary.Steps // nil where the stream has no prices by symbol
}

// newLearner reads the dictionary of a stream that is open for writing: nobody
// else changes it meanwhile.
func newLearner(st *stream.Stream, learn []string) (*learner, error) {
	info := st.Info()
	l := &learner{dir: info.Dir, s: info.Schema, learn: map[string]bool{}, used: map[string]uint64{}}
	for _, name := range learn {
		if err := learnable(info.Schema, name); err != nil {
			return nil, &usageError{err}
		}
		l.learn[name] = true
	}
	var err error
	if l.d, err = dictionary.Load(l.dir, info.ID); err != nil {
		return nil, &hintedError{err, "with --raw-values the input is taken as numbers"}
	}
	for name := range l.learn {
		l.used[name] = uint64(l.d.Len(name))
	}
	l.steps = dictionary.NewSteps(info.Schema, l.d)
	return l, nil
}

// learnable tells whether a field can hold numbers of texts.
func learnable(s *schema.Schema, name string) error {
	i, ok := s.Index(name)
	if !ok {
		return fmt.Errorf("--learn: no field %q in this stream; it has %s", name, s)
	}
	if s.Field(i).Scale > 0 {
		return fmt.Errorf("--learn: %s is a decimal; a number of a text is whole", name)
	}
	return nil
}

// Has is for feed.Texts.
func (l *learner) Has(field string) bool { return l.learn[field] || l.d.Has(field) }

// Number is for feed.Texts. In a field that learns all is text but 0, which is
// printed where there is none.
func (l *learner) Number(field, text string) (uint64, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.d.Number(field, text); ok || !l.learn[field] || text == "0" {
		return n, ok, nil
	}
	n, err := l.d.Assign(field, text)
	return n, true, err
}

// Check is for feed.Texts.
func (l *learner) Check(rec []byte) error {
	if l.steps == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.steps.See(rec)
}

// save puts on disk what the records of a batch that is about to be appended mean,
// and no text of a line behind it, though the feed may have read it.
func (l *learner) save(batch []byte) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.learn {
		i, _ := l.s.Index(name)
		for rec := range slices.Chunk(batch, l.s.Width()) {
			if n := l.s.Uint(rec, i); n <= uint64(l.d.Len(name)) { // else it is a number without a text
				l.used[name] = max(l.used[name], n)
			}
		}
	}
	return l.d.SaveSome(l.dir, l.used)
}
