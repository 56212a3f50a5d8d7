// Package dictionary keeps the texts that numbers in a stream's records stand
// for, such as symbols and accounts, in dictionary.json beside the stream.
//
// A text, once it has a number, keeps it; numbers are given from 1, and 0 is
// none. A number is on disk (Save) before a record that holds it is appended.
//
// A Dictionary belongs to one goroutine.
package dictionary

import (
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"example.com/ledger/cmd/ledgerctl/internal/sidecar"
	"example.com/ledger/internal/meta"
	"example.com/ledger/stream"
)

// File is the name of a dictionary beside its stream.
const File = meta.DictionaryFile

// textMax is the longest text, bytes.
const textMax = 256

// An Entry is a text and what is known of it. The scales are the decimals that
// hold all prices and quantities that were seen with it.
type Entry struct {
	Text     string `json:"text"`
	PxScale  uint8  `json:"px_scale,omitempty"`
	QtyScale uint8  `json:"qty_scale,omitempty"`
	Tick     string `json:"tick,omitempty"` // the step of its prices, where it was told
}

// A Dictionary has a list of texts for each field that holds such numbers.
type Dictionary struct {
	id      string
	lists   map[string][]Entry
	numbers map[string]map[string]uint64
	dirty   bool
}

// file is the form on disk. Number n of a field is entry n−1 of its list.
type file struct {
	Version int                `json:"version"`
	Stream  string             `json:"stream"`
	Fields  map[string][]Entry `json:"fields"`
}

// New returns an empty dictionary for the stream with that id.
func New(id [16]byte) *Dictionary {
	return &Dictionary{id: hex.EncodeToString(id[:]), lists: map[string][]Entry{}, numbers: map[string]map[string]uint64{}}
}

// Load reads the dictionary of the stream in dir, which has that id; it is empty
// where there is none. A damaged one, or another stream's, is stream.ErrCorrupt.
func Load(dir string, id [16]byte) (*Dictionary, error) {
	d := New(id)
	var f file
	ok, err := sidecar.Read(dir, File, &f)
	if err != nil || !ok {
		return d, err
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("%w: %s/%s has version %d", stream.ErrVersion, dir, File, f.Version)
	}
	if f.Stream != d.id {
		return nil, &stream.CorruptError{Path: filepath.Join(dir, File), Offset: -1, Field: "stream", Detail: "the dictionary of another stream"}
	}
	for field, list := range f.Fields {
		for i, e := range list {
			if _, twice := d.Number(field, e.Text); twice {
				return nil, &stream.CorruptError{Path: filepath.Join(dir, File), Offset: -1, Field: field, Detail: fmt.Sprintf("%q stands twice", e.Text)}
			}
			d.index(field, e.Text, uint64(i+1))
		}
		d.lists[field] = list
	}
	return d, nil
}

// Open is Load for whoever doesn't have the stream at hand.
func Open(dir string) (*Dictionary, error) {
	path := filepath.Join(dir, meta.StreamFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := meta.DecodeStream(path, b)
	if err != nil {
		return nil, err
	}
	id, err := meta.ParseID(s.ID)
	if err != nil {
		return nil, err
	}
	return Load(dir, id)
}

// Save writes the dictionary to dir, if anything is new in it.
func (d *Dictionary) Save(dir string) error { return d.SaveSome(dir, nil) }

// SaveSome is Save without the texts of some fields that have higher numbers than
// those here: texts that no record has yet. A later call writes them.
func (d *Dictionary) SaveSome(dir string, upTo map[string]uint64) error {
	if !d.dirty {
		return nil
	}
	lists, left := maps.Clone(d.lists), false
	for field, n := range upTo {
		if list := lists[field]; n < uint64(len(list)) {
			lists[field], left = list[:n], true
		}
	}
	if err := sidecar.Write(dir, File, file{1, d.id, lists}); err != nil {
		return err
	}
	d.dirty = left
	return nil
}

// Clone returns a copy that can be changed on its own.
func (d *Dictionary) Clone() *Dictionary {
	c := &Dictionary{id: d.id, lists: map[string][]Entry{}, numbers: map[string]map[string]uint64{}, dirty: d.dirty}
	for field, list := range d.lists {
		c.lists[field] = slices.Clone(list)
		c.numbers[field] = maps.Clone(d.numbers[field])
	}
	return c
}

// Has tells whether the field's numbers stand for texts.
func (d *Dictionary) Has(field string) bool { return d.Len(field) > 0 }

// Len returns how many texts a field has: its highest number.
func (d *Dictionary) Len(field string) int { return len(d.lists[field]) }

// Texts returns the texts of each field that has some: number n is entry n−1.
func (d *Dictionary) Texts() map[string][]string {
	all := map[string][]string{}
	for field, list := range d.lists {
		for _, e := range list {
			all[field] = append(all[field], e.Text)
		}
	}
	return all
}

// Text returns the text of a field's number, and whether there is one.
func (d *Dictionary) Text(field string, n uint64) (string, bool) {
	list := d.lists[field]
	if n == 0 || n > uint64(len(list)) {
		return "", false
	}
	return list[n-1].Text, true
}

// Number returns the number of a field's text, and whether it has one.
func (d *Dictionary) Number(field, text string) (uint64, bool) {
	n, ok := d.numbers[field][text]
	return n, ok
}

// Assign returns the number of a field's text, and gives it the next one if it
// has none. The text is UTF-8 without control characters, of 1 to 256 bytes.
func (d *Dictionary) Assign(field, text string) (uint64, error) {
	if n, ok := d.Number(field, text); ok {
		return n, nil
	}
	if err := check(text); err != nil {
		return 0, err
	}
	text = string(append([]byte(nil), text...)) // of its own: it outlives the line it was cut from
	d.lists[field] = append(d.lists[field], Entry{Text: text})
	n := uint64(len(d.lists[field]))
	d.index(field, text, n)
	d.dirty = true
	return n, nil
}

func (d *Dictionary) index(field, text string, n uint64) {
	if d.numbers[field] == nil {
		d.numbers[field] = map[string]uint64{}
	}
	d.numbers[field][text] = n
}

func check(text string) error {
	switch {
	case text == "" || len(text) > textMax:
		return fmt.Errorf("a text has 1 to %d bytes, this one %d", textMax, len(text))
	case !utf8.ValidString(text):
		return fmt.Errorf("%q is no UTF-8", text)
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return fmt.Errorf("%q has a control character", text)
		}
	}
	return nil
}

// Entry returns what is known of a field's number, which must have a text.
func (d *Dictionary) Entry(field string, n uint64) Entry { return d.lists[field][n-1] }

// Widen says that prices and quantities of so many decimals have been seen with a
// field's number. Numbers without a text are passed over.
func (d *Dictionary) Widen(field string, n uint64, px, qty uint8) {
	list := d.lists[field]
	if n == 0 || n > uint64(len(list)) {
		return
	}
	e := &list[n-1]
	if px > e.PxScale || qty > e.QtyScale {
		e.PxScale, e.QtyScale = max(px, e.PxScale), max(qty, e.QtyScale)
		d.dirty = true
	}
}

// SetTick sets the step of the prices of a field's text, which gets a number if
// it has none. Another step than before is an error.
func (d *Dictionary) SetTick(field, text, tick string) error {
	n, err := d.Assign(field, text)
	if err != nil {
		return err
	}
	e := &d.lists[field][n-1]
	if e.Tick != "" && e.Tick != tick {
		return fmt.Errorf("%s has the tick %s, not %s", text, e.Tick, tick)
	}
	if e.Tick == "" {
		e.Tick, d.dirty = tick, true
	}
	return nil
}
