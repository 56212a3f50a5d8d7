package importer

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/ledger/schema"
)

// ParseRule reads a mapping as people write it, FIELD=COLUMN with what the column
// holds behind colons, in any order:
//
//	i8 … u64          the field's kind, where a stream is made (i64; u32 for text, u8 for a side or a table)
//	2                 its decimals, where a stream is made (0)
//	e4                the file has whole numbers of 10^-4
//	int               a whole number, and not one with a point
//	text              a text, which the dictionary gives a number
//	side              buy, sell, bid, ask and the like: 0 and 1
//	{new=1,gone=3}    a table of texts
//	s ms us ns iso midnight auto   a time
//
// FIELD= alone takes a rule of the preset away. The second result is the field
// that a new stream gets; that of ts has no kind.
func ParseRule(text string) (Rule, schema.Field, error) {
	field, rest, ok := strings.Cut(text, "=")
	bad := func(format string, args ...any) (Rule, schema.Field, error) {
		return Rule{}, schema.Field{}, fmt.Errorf("%q: "+format, append([]any{text}, args...)...)
	}
	if !ok || field == "" {
		return bad("write FIELD=COLUMN, as in px=price:2")
	}
	rule, f := Rule{To: field, Must: true}, schema.Field{Name: field}
	if rest == "" {
		return rule, f, nil
	}
	parts := splitParts(rest)
	rule.From = parts[0]
	for _, part := range parts[1:] {
		if k, err := schema.ParseKind(part); err == nil {
			f.Kind = k
			continue
		}
		if n, err := strconv.ParseUint(part, 10, 8); err == nil {
			if n > schema.ScaleMax {
				return bad("%d decimals, at most %d", n, schema.ScaleMax)
			}
			f.Scale = uint8(n)
			continue
		}
		as, kind, err := parseConv(part)
		if err != nil {
			return bad("%w", err)
		}
		if rule.As.do != nil {
			return bad("%s and %s exclude each other", rule.As.about, as.about)
		}
		rule.As = as
		if f.Kind == 0 {
			f.Kind = kind
		}
	}
	if rule.As.do == nil {
		rule.As = Decimal()
		if field == "ts" {
			rule.As = Time(Auto)
		}
	}
	if field == "ts" {
		f = schema.Field{Name: "ts"}
	} else if f.Kind == 0 {
		f.Kind = schema.I64
	}
	return rule, f, nil
}

// splitParts splits at colons that are outside of braces.
func splitParts(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:])
}

// parseConv returns a conversion and the kind of field that it needs at least, 0
// for any.
func parseConv(part string) (Conv, schema.Kind, error) {
	switch part {
	case "text":
		return Text(), schema.U32, nil
	case "int":
		return Integer(), 0, nil
	case "side":
		return Table(sides), schema.U8, nil
	}
	if form, err := ParseTimeForm(part); err == nil {
		return Time(form), 0, nil
	}
	if digits, ok := strings.CutPrefix(part, "e"); ok {
		n, err := strconv.ParseUint(digits, 10, 8)
		if err != nil || n > schema.ScaleMax {
			return Conv{}, 0, fmt.Errorf("%q: e0 to e%d", part, schema.ScaleMax)
		}
		return Scaled(uint8(n)), 0, nil
	}
	if strings.HasPrefix(part, "{") && strings.HasSuffix(part, "}") {
		table := map[string]int64{}
		for _, pair := range strings.Split(part[1:len(part)-1], ",") {
			text, number, ok := strings.Cut(pair, "=")
			v, err := strconv.ParseInt(number, 10, 64)
			if _, twice := table[text]; !ok || err != nil || twice {
				return Conv{}, 0, fmt.Errorf("%q in a table: write TEXT=NUMBER, each text once", pair)
			}
			table[text] = v
		}
		return Table(table), schema.U8, nil
	}
	return Conv{}, 0, fmt.Errorf("%q is no kind, number of decimals, eN, int, text, side, table or form of time", part)
}
