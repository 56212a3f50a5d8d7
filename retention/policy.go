// Package retention says which sealed segments of a stream go: policies as pure
// functions, facts about segments in, segments to drop out. It opens no file
// and reads no clock.
//
// A segment goes whole or not at all, and the active segment never goes. All
// types are plain values; any number of goroutines may use them at once.
package retention

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrPolicy: a policy has a value out of its range. The text names each of them.
var ErrPolicy = errors.New("ledger: bad retention policy")

// A Policy is a set of rules. Each rule looks at the stream on its own, and a
// segment goes if any of them drops it. A rule at its zero value is not set, and
// the zero Policy keeps all.
type Policy struct {
	// BeforeTime drops each segment whose own largest timestamp is below it, in
	// the stream's unit. With timestamps out of order an older segment may stay
	// while a newer one goes.
	BeforeTime *int64
	// BeforeSeq drops segments that lie wholly below this sequence number.
	BeforeSeq uint64
	// KeepRecords drops the oldest segments, by sequence number, as long as the
	// stream that remains, its active segment included, has this many records.
	KeepRecords uint64
	// MaxBytes drops the oldest segments until the stream that remains, its
	// active segment included, has at most this many bytes, or nothing sealed is
	// left. It is 0 or more.
	MaxBytes int64
	// MaxAge drops each segment whose own largest timestamp is further back from
	// now than this. It is 0 or more. Timestamps ahead of the clock are young.
	MaxAge time.Duration
	// MaxWriteAge drops segments that were sealed longer ago than this, whatever
	// their records' timestamps. It is 0 or more. A segment whose time of
	// sealing is not known stays.
	MaxWriteAge time.Duration
}

// Validate returns nil, or an error that is ErrPolicy and names every value
// that is out of its range.
func (p Policy) Validate() error {
	var errs []error
	refuse := func(rule string, v any) {
		errs = append(errs, fmt.Errorf("%w: %s is %v, below 0", ErrPolicy, rule, v))
	}
	if p.MaxBytes < 0 {
		refuse(ReasonMaxBytes, p.MaxBytes)
	}
	if p.MaxAge < 0 {
		refuse(ReasonMaxAge, p.MaxAge)
	}
	if p.MaxWriteAge < 0 {
		refuse(ReasonMaxWriteAge, p.MaxWriteAge)
	}
	return errors.Join(errs...)
}

// IsZero reports whether no rule is set, so that all is kept.
func (p Policy) IsZero() bool { return p == Policy{} }

// Equal reports whether the two policies have the same rules.
func (p Policy) Equal(o Policy) bool {
	if p.BeforeTime != nil && o.BeforeTime != nil && *p.BeforeTime == *o.BeforeTime {
		p.BeforeTime, o.BeforeTime = nil, nil
	}
	return p == o
}

// String lists the rules that are set, such as "before-seq 4096, max-age 168h0m0s";
// the zero Policy is "keep all".
func (p Policy) String() string {
	var rules []string
	add := func(set bool, rule string, v any) {
		if set {
			rules = append(rules, fmt.Sprintf("%s %v", rule, v))
		}
	}
	if p.BeforeTime != nil {
		add(true, ReasonBeforeTime, *p.BeforeTime)
	}
	add(p.BeforeSeq != 0, ReasonBeforeSeq, p.BeforeSeq)
	add(p.KeepRecords != 0, ReasonKeepRecords, p.KeepRecords)
	add(p.MaxBytes != 0, ReasonMaxBytes, p.MaxBytes)
	add(p.MaxAge != 0, ReasonMaxAge, p.MaxAge)
	add(p.MaxWriteAge != 0, ReasonMaxWriteAge, p.MaxWriteAge)
	if len(rules) == 0 {
		return "keep all"
	}
	return strings.Join(rules, ", ")
}

// policyJSON is a Policy as JSON has it: rules that are not set are absent, and
// durations are text, such as "168h0m0s".
type policyJSON struct {
	BeforeTime  *int64 `json:"before_time,omitempty"`
	BeforeSeq   uint64 `json:"before_seq,omitempty"`
	KeepRecords uint64 `json:"keep_records,omitempty"`
	MaxBytes    int64  `json:"max_bytes,omitempty"`
	MaxAge      string `json:"max_age,omitempty"`
	MaxWriteAge string `json:"max_write_age,omitempty"`
}

// MarshalJSON writes the rules that are set, in the order of the fields.
// Durations are text, such as "168h0m0s"; all else is numbers.
func (p Policy) MarshalJSON() ([]byte, error) {
	return json.Marshal(policyJSON{
		BeforeTime:  p.BeforeTime,
		BeforeSeq:   p.BeforeSeq,
		KeepRecords: p.KeepRecords,
		MaxBytes:    p.MaxBytes,
		MaxAge:      durationText(p.MaxAge),
		MaxWriteAge: durationText(p.MaxWriteAge),
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A rule that this release does not
// know, and a value that does not fit, are errors, and p is as it was. It does
// not Validate.
func (p *Policy) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var v policyJSON
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	age, err1 := parseDuration(v.MaxAge)
	writeAge, err2 := parseDuration(v.MaxWriteAge)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	*p = Policy{
		BeforeTime:  v.BeforeTime,
		BeforeSeq:   v.BeforeSeq,
		KeepRecords: v.KeepRecords,
		MaxBytes:    v.MaxBytes,
		MaxAge:      age,
		MaxWriteAge: writeAge,
	}
	return nil
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func parseDuration(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return d, nil
}
