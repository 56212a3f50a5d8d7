package meta

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"example.com/ledger/internal/disk"
)

// A Drop is a range of sequence numbers [From, To) that is gone, and why.
type Drop struct {
	From   uint64    `json:"from,string"`
	To     uint64    `json:"to,string"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"` // when it was given up
}

// Why a range is gone. A text may follow in retention's own words.
const (
	ReasonRetention = "retention"
	ReasonLoss      = "loss"
	ReasonRepair    = "repair"
	ReasonBefore    = "before the stream's first record"
)

// Drops is the content of drops.json: sorted, merged where a range continues
// another for the same reason.
type Drops struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Ranges  []Drop `json:"ranges"`
}

// Add returns the drops with one more range. Numbers that were given up before
// keep their first reason.
func (d Drops) Add(n Drop) Drops {
	out := Drops{Version: version, ID: d.ID, Ranges: slices.Clone(d.Ranges)}
	for _, old := range d.Ranges {
		if n.From >= n.To {
			break
		}
		if old.To <= n.From || old.From >= n.To {
			continue
		}
		if n.From < old.From {
			out.Ranges = append(out.Ranges, Drop{n.From, old.From, n.Reason, n.At})
		}
		n.From = max(n.From, old.To)
	}
	if n.From < n.To {
		out.Ranges = append(out.Ranges, n)
	}
	slices.SortFunc(out.Ranges, func(a, b Drop) int { return cmp.Compare(a.From, b.From) })
	merged := out.Ranges[:0]
	for _, r := range out.Ranges {
		if k := len(merged) - 1; k >= 0 && merged[k].To == r.From && merged[k].Reason == r.Reason {
			merged[k].To = r.To
			if r.At.After(merged[k].At) {
				merged[k].At = r.At
			}
			continue
		}
		merged = append(merged, r)
	}
	out.Ranges = merged
	return out
}

// Encode returns the bytes of drops.json.
func (d Drops) Encode() ([]byte, error) {
	d.Version = version
	if d.Ranges == nil {
		d.Ranges = []Drop{}
	}
	return seal(d)
}

// DecodeDrops reads drops.json. path is for errors only.
func DecodeDrops(path string, b []byte) (Drops, error) {
	var d Drops
	if err := open(path, b, &d); err != nil {
		return Drops{}, err
	}
	if d.Ranges == nil { // a whole file of another kind
		return Drops{}, &disk.CorruptError{Path: path, Offset: -1, Field: "ranges", Detail: "missing"}
	}
	for i, r := range d.Ranges {
		if r.From >= r.To || i > 0 && r.From < d.Ranges[i-1].To {
			return Drops{}, &disk.CorruptError{Path: path, Offset: -1, Detail: fmt.Sprintf("range %d is out of order", i)}
		}
	}
	return d, nil
}

// ParseID reads a stream's id as stream.json writes it: 32 hex digits.
func ParseID(s string) (id [16]byte, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("ledger: %q is no stream id of 32 hex digits", s)
	}
	return [16]byte(b), nil
}

// FormatID is the inverse of ParseID.
func FormatID(id [16]byte) string { return hex.EncodeToString(id[:]) }
