package retention_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ledger/retention"
	"example.com/ledger/schema"
	"pgregory.net/rapid"
)

func at(v int64) *int64 { return &v }

// now is a Tuesday; ts below are counted back from it, in milliseconds.
var now = time.UnixMilli(1_791_800_000_000)

// segments returns four segments of ten records. The second one holds the
// youngest timestamp: times are out of order.
func segments() []retention.Segment {
	ms := now.UnixMilli()
	return []retention.Segment{
		{First: 0, End: 10, MinTime: ms - 9000, MaxTime: ms - 8000, SealedAt: ms - 900, Bytes: 100},
		{First: 10, End: 20, MinTime: ms - 8500, MaxTime: ms - 100, SealedAt: ms - 800, Bytes: 100},
		{First: 20, End: 30, MinTime: ms - 7000, MaxTime: ms - 6000, SealedAt: ms - 700, Bytes: 100},
		{First: 30, End: 40, MinTime: ms - 6500, MaxTime: ms - 5000, SealedAt: 0, Bytes: 100},
	}
}

func TestSelect(t *testing.T) {
	total := retention.Totals{Records: 45, Bytes: 450} // 5 records of 10 bytes are active
	ms := now.UnixMilli()
	tests := []struct {
		name   string
		policy retention.Policy
		want   []uint64 // first numbers of what goes
		reason string
	}{
		{"the zero policy keeps all", retention.Policy{}, nil, ""},
		{"time: the largest ts counts", retention.Policy{BeforeTime: at(ms - 5999)}, []uint64{0, 20}, "before"},
		{"time: equal stays", retention.Policy{BeforeTime: at(ms - 8000)}, nil, ""},
		{"time: zero is a time", retention.Policy{BeforeTime: at(0)}, nil, ""},
		{"time: all", retention.Policy{BeforeTime: at(math.MaxInt64)}, []uint64{0, 10, 20, 30}, "before"},
		{"seq: whole segments only", retention.Policy{BeforeSeq: 29}, []uint64{0, 10}, "before-seq"},
		{"seq: at an end", retention.Policy{BeforeSeq: 30}, []uint64{0, 10, 20}, "before-seq"},
		{"seq: beyond", retention.Policy{BeforeSeq: math.MaxUint64}, []uint64{0, 10, 20, 30}, "before-seq"},
		{"records: exactly", retention.Policy{KeepRecords: 25}, []uint64{0, 10}, "keep-records"},
		{"records: one more", retention.Policy{KeepRecords: 26}, []uint64{0}, "keep-records"},
		{"records: the active ones suffice", retention.Policy{KeepRecords: 5}, []uint64{0, 10, 20, 30}, "keep-records"},
		{"records: more than there are", retention.Policy{KeepRecords: 46}, nil, ""},
		{"bytes: exactly", retention.Policy{MaxBytes: 250}, []uint64{0, 10}, "max-bytes"},
		{"bytes: one less", retention.Policy{MaxBytes: 249}, []uint64{0, 10, 20}, "max-bytes"},
		{"bytes: fits", retention.Policy{MaxBytes: 450}, nil, ""},
		{"bytes: never fits", retention.Policy{MaxBytes: 1}, []uint64{0, 10, 20, 30}, "max-bytes"},
		{"age: equal stays", retention.Policy{MaxAge: 6 * time.Second}, []uint64{0}, "max-age"},
		{"age: a nanosecond less", retention.Policy{MaxAge: 6*time.Second - 1}, []uint64{0, 20}, "max-age"},
		{"age of writing: not known stays", retention.Policy{MaxWriteAge: time.Millisecond}, []uint64{0, 10, 20}, "max-write-age"},
		{"age of writing: equal stays", retention.Policy{MaxWriteAge: 800 * time.Millisecond}, []uint64{0}, "max-write-age"},
		{"negative values are not set", retention.Policy{MaxBytes: -1, MaxAge: -1, MaxWriteAge: -1}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []uint64
			for _, d := range tt.policy.Select(segments(), total, now, schema.Millisecond) {
				got = append(got, d.First)
				if d.Reason != tt.reason {
					t.Errorf("segment %d goes by %q, want %q", d.First, d.Reason, tt.reason)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("dropped %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSelectNamesTheFirstRule(t *testing.T) {
	p := retention.Policy{BeforeSeq: 10, KeepRecords: 25, MaxAge: 5500 * time.Millisecond}
	got := p.Select(segments(), retention.Totals{Records: 45}, now, schema.Millisecond)
	want := []string{"before-seq", "keep-records", "max-age"}
	for i, d := range got {
		if i >= len(want) || d.Reason != want[i] || d.First != uint64(10*i) {
			t.Fatalf("got %+v, want reasons %v", got, want)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want reasons %v", got, want)
	}
}

func TestSelectExtremes(t *testing.T) {
	far := []retention.Segment{
		{First: 0, End: 1, MaxTime: math.MinInt64, SealedAt: math.MinInt64, Bytes: math.MaxInt64 / 2},
		{First: 1, End: 2, MaxTime: math.MaxInt64 - 1, SealedAt: math.MaxInt64 - 1, Bytes: math.MaxInt64 / 2},
	}
	for _, unit := range []schema.Unit{0, schema.Nanosecond, schema.Microsecond, schema.Millisecond} {
		for _, at := range []time.Time{
			{}, now, time.Unix(0, 0), time.Unix(-1, 999_999_999), time.Unix(1<<40, 0), time.Unix(-1<<40, 0),
			time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64),
		} {
			p := retention.Policy{MaxAge: 1, MaxWriteAge: 1}
			got := p.Select(far, retention.Totals{}, at, unit)
			perSecond := max(unit.PerSecond(), 1000)
			if unit == 0 {
				perSecond = 1e9
			}
			for i, s := range far {
				gone := slices.ContainsFunc(got, func(d retention.Dropped) bool { return d.Segment == s })
				want := older(s.MaxTime, perSecond, at, 1) || older(s.SealedAt, 1000, at, 1)
				if gone != want {
					t.Errorf("unit %v, now %v, segment %d: gone is %v, want %v", unit, at, i, gone, want)
				}
			}
		}
	}
}

func TestValidateNamesAll(t *testing.T) {
	p := retention.Policy{MaxBytes: -1, MaxAge: -2 * time.Second, MaxWriteAge: -3 * time.Second}
	err := p.Validate()
	if !errors.Is(err, retention.ErrPolicy) {
		t.Fatalf("got %v, want ErrPolicy", err)
	}
	for _, s := range []string{"max-bytes is -1", "max-age is -2s", "max-write-age is -3s"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not name %q", err, s)
		}
	}
	if err := (retention.Policy{BeforeTime: at(-5)}).Validate(); err != nil {
		t.Errorf("a time before 1970 is refused: %v", err)
	}
	if err := (retention.Policy{}).Validate(); err != nil {
		t.Errorf("the zero policy is refused: %v", err)
	}
}

func TestPolicyJSON(t *testing.T) {
	tests := []struct {
		policy     retention.Policy
		json, text string
	}{
		{retention.Policy{}, `{}`, "keep all"},
		{retention.Policy{BeforeTime: at(0)}, `{"before_time":0}`, "before 0"},
		{
			retention.Policy{BeforeTime: at(math.MinInt64), BeforeSeq: math.MaxUint64, KeepRecords: 3, MaxBytes: math.MaxInt64, MaxAge: 7 * 24 * time.Hour, MaxWriteAge: time.Nanosecond},
			`{"before_time":-9223372036854775808,"before_seq":18446744073709551615,"keep_records":3,"max_bytes":9223372036854775807,"max_age":"168h0m0s","max_write_age":"1ns"}`,
			"before -9223372036854775808, before-seq 18446744073709551615, keep-records 3, max-bytes 9223372036854775807, max-age 168h0m0s, max-write-age 1ns",
		},
	}
	for _, tt := range tests {
		b, err := json.Marshal(tt.policy)
		if err != nil || string(b) != tt.json {
			t.Errorf("Marshal(%v) = %s, %v, want %s", tt.policy, b, err, tt.json)
		}
		if got := tt.policy.String(); got != tt.text {
			t.Errorf("String() = %q, want %q", got, tt.text)
		}
	}
	for _, bad := range []string{`{"max_agee":"1s"}`, `{"max_age":"1"}`, `{"max_age":5}`, `{"before_seq":-1}`, `[]`, `{"max_age":"1s","max_write_age":"x"}`} {
		p := retention.Policy{KeepRecords: 9}
		if err := json.Unmarshal([]byte(bad), &p); !errors.Is(err, retention.ErrPolicy) {
			t.Errorf("Unmarshal(%s) = %v, want ErrPolicy", bad, err)
		}
		if !p.Equal(retention.Policy{KeepRecords: 9}) {
			t.Errorf("Unmarshal(%s) failed and left %v", bad, p)
		}
	}
}

func TestPolicyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := retention.Policy{
			BeforeTime:  rapid.Ptr(rapid.Int64(), true).Draw(t, "before"),
			BeforeSeq:   rapid.Uint64().Draw(t, "seq"),
			KeepRecords: rapid.Uint64().Draw(t, "keep"),
			MaxBytes:    rapid.Int64().Draw(t, "bytes"),
			MaxAge:      time.Duration(rapid.Int64().Draw(t, "age")),
			MaxWriteAge: time.Duration(rapid.Int64().Draw(t, "write age")),
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got := retention.Policy{KeepRecords: 1}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !got.Equal(p) {
			t.Fatalf("%v came back from %s as %v", p, b, got)
		}
		if p.IsZero() != (string(b) == "{}") {
			t.Fatalf("IsZero is %v for %s", p.IsZero(), b)
		}
	})
}

func TestEqual(t *testing.T) {
	a := retention.Policy{BeforeTime: at(5)}
	for _, tt := range []struct {
		b    retention.Policy
		want bool
	}{
		{retention.Policy{BeforeTime: at(5)}, true},
		{retention.Policy{BeforeTime: at(6)}, false},
		{retention.Policy{}, false},
		{retention.Policy{BeforeTime: at(5), BeforeSeq: 1}, false},
	} {
		if a.Equal(tt.b) != tt.want || tt.b.Equal(a) != tt.want {
			t.Errorf("%v equal to %v is not %v", a, tt.b, tt.want)
		}
	}
}
