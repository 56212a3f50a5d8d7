package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ledger/cmd/ledgerctl/internal/value"
	"example.com/ledger/retention"
	"example.com/ledger/schema"
)

// policyFlags are the rules of retention.
type policyFlags struct {
	before      string
	beforeSeq   flagValue[uint64]
	keepRecords flagValue[uint64]
	maxBytes    *flagValue[int64]
	maxAge      *flagValue[time.Duration]
	maxWriteAge *flagValue[time.Duration]
}

func (f *policyFlags) add(cmd *cobra.Command) {
	f.beforeSeq = flagValue[uint64]{name: "seq", parse: parseSeq}
	f.keepRecords = flagValue[uint64]{name: "n", parse: parseSeq}
	f.maxBytes, f.maxAge, f.maxWriteAge = sizeFlag(), durationFlag(), durationFlag()
	flags := cmd.Flags()
	flags.StringVar(&f.before, retention.ReasonBeforeTime, "", "drop segments whose times all lie before this `time`")
	flags.Var(&f.beforeSeq, retention.ReasonBeforeSeq, "drop segments wholly below this `seq`")
	flags.Var(&f.keepRecords, retention.ReasonKeepRecords, "drop the oldest as long as `n` records are left")
	flags.Var(f.maxBytes, retention.ReasonMaxBytes, "drop the oldest until the stream has at most this `size`, as in 10GiB")
	flags.Var(f.maxAge, retention.ReasonMaxAge, "drop segments whose times all lie further back, as in 7d")
	flags.Var(f.maxWriteAge, retention.ReasonMaxWriteAge, "drop segments that were sealed longer ago, as in 30d")
}

// given tells whether there is a rule.
func (f *policyFlags) given() bool {
	return f.before != "" || f.beforeSeq.set() || f.keepRecords.set() ||
		f.maxBytes.set() || f.maxAge.set() || f.maxWriteAge.set()
}

// policy returns the rules for a stream of the unit u. A rule that would keep or
// drop everything because its value is 0 is a usage error.
func (f *policyFlags) policy(u schema.Unit) (retention.Policy, error) {
	var p retention.Policy
	var errs []error
	zero := func(set, isZero bool, name string) {
		if set && isZero {
			errs = append(errs, fmt.Errorf("--%s must be at least 1; leave it out to keep all", name))
		}
	}
	if f.before != "" {
		ts, err := value.ParseBound(f.before, u)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", retention.ReasonBeforeTime, err))
		}
		p.BeforeTime = &ts
	}
	p.BeforeSeq, p.KeepRecords, p.MaxBytes = f.beforeSeq.v, f.keepRecords.v, f.maxBytes.v
	p.MaxAge, p.MaxWriteAge = f.maxAge.v, f.maxWriteAge.v
	zero(f.beforeSeq.set(), p.BeforeSeq == 0, retention.ReasonBeforeSeq)
	zero(f.keepRecords.set(), p.KeepRecords == 0, retention.ReasonKeepRecords)
	zero(f.maxBytes.set(), p.MaxBytes == 0, retention.ReasonMaxBytes)
	zero(f.maxAge.set(), p.MaxAge == 0, retention.ReasonMaxAge)
	zero(f.maxWriteAge.set(), p.MaxWriteAge == 0, retention.ReasonMaxWriteAge)
	if err := errors.Join(append(errs, p.Validate())...); err != nil {
		return p, &usageError{err}
	}
	return p, nil
}

// policyText writes a policy as its flags are written; "keep all" if it has no rule.
func policyText(p retention.Policy, u schema.Unit) string {
	var rules []string
	rule := func(set bool, name, text string) {
		if set {
			rules = append(rules, name+" "+text)
		}
	}
	if p.BeforeTime != nil {
		rule(true, retention.ReasonBeforeTime, string(value.AppendTime(nil, *p.BeforeTime, u)))
	}
	rule(p.BeforeSeq > 0, retention.ReasonBeforeSeq, strconv.FormatUint(p.BeforeSeq, 10))
	rule(p.KeepRecords > 0, retention.ReasonKeepRecords, strconv.FormatUint(p.KeepRecords, 10))
	rule(p.MaxBytes > 0, retention.ReasonMaxBytes, strconv.FormatInt(p.MaxBytes, 10))
	rule(p.MaxAge > 0, retention.ReasonMaxAge, value.FormatDuration(p.MaxAge))
	rule(p.MaxWriteAge > 0, retention.ReasonMaxWriteAge, value.FormatDuration(p.MaxWriteAge))
	if rules == nil {
		return "keep all"
	}
	return strings.Join(rules, ", ")
}
