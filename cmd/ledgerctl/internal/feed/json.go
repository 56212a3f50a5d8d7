package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonSource reads one JSON object a line: {"ts":"2026-10-12T09:30:00Z","px":"64123.50","qty":5}.
// Numbers are taken as they are written, so that none goes through a float.
type jsonSource struct {
	in *lines
	b  *binder
}

func (j *jsonSource) Line() int   { return j.in.n }
func (j *jsonSource) Ready() bool { return j.in.ready() }

func (j *jsonSource) Next(rec []byte) error {
	line, err := j.in.next()
	if err != nil {
		return err
	}
	j.b.begin(rec)
	err = members(line, func(name, text string) error {
		column, err := j.b.column(name)
		if err != nil {
			return err
		}
		return j.b.set(rec, column, text)
	})
	if err == nil {
		err = j.b.done(rec)
	}
	if err != nil {
		return j.in.bad(0, err)
	}
	return nil
}

// members calls f for each member of a flat JSON object. The text is a string's
// contents, a number as it stands, or nothing for null and "".
func members(line string, f func(name, text string) error) error {
	s := skipSpace(line)
	if !strings.HasPrefix(s, "{") {
		return errors.New("not a JSON object")
	}
	s = skipSpace(s[1:])
	for first := true; !strings.HasPrefix(s, "}"); first = false {
		if !first {
			if !strings.HasPrefix(s, ",") {
				return errors.New("bad JSON: a comma or } is missing")
			}
			s = skipSpace(s[1:])
		}
		name, rest, err := cutString(s)
		if err != nil {
			return err
		}
		if s = skipSpace(rest); !strings.HasPrefix(s, ":") {
			return fmt.Errorf("bad JSON: no colon after %.40q", name)
		}
		text, rest, err := cutValue(skipSpace(s[1:]))
		if err != nil {
			return fmt.Errorf("%.40s: %w", name, err)
		}
		if err := f(name, text); err != nil {
			return err
		}
		s = skipSpace(rest)
	}
	if skipSpace(s[1:]) != "" {
		return errors.New("bad JSON: text behind the object; write one a line")
	}
	return nil
}

func skipSpace(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t' || s[0] == '\r') {
		s = s[1:]
	}
	return s
}

// cutString cuts s behind the string that it begins with.
func cutString(s string) (text, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", errors.New("bad JSON: a quoted name is missing")
	}
	plain := true
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && plain:
			return s[1:i], s[i+1:], nil
		case c == '"':
			if err := json.Unmarshal([]byte(s[:i+1]), &text); err != nil {
				return "", "", fmt.Errorf("bad JSON: %w", err)
			}
			return text, s[i+1:], nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return "", "", errors.New("bad JSON: a control character in a string")
		}
	}
	return "", "", errors.New("bad JSON: a string is not closed on its line")
}

// cutValue cuts s behind the string, number or null that it begins with.
func cutValue(s string) (text, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		return cutString(s)
	}
	n := strings.IndexAny(s, ",} \t\r")
	if n < 0 {
		n = len(s)
	}
	text, rest = s[:n], s[n:]
	switch {
	case text == "null":
		return "", rest, nil
	case isNumber(text):
		return text, rest, nil
	}
	return "", "", fmt.Errorf("%.40q is neither a number nor a string", text)
}

// isNumber tells whether text is a number by JSON's rules, which know no plus sign
// and no needless zero in front.
func isNumber(text string) bool {
	s := strings.TrimPrefix(text, "-")
	whole, s := cutDigits(s)
	if whole == "" || whole[0] == '0' && len(whole) > 1 {
		return false
	}
	if strings.HasPrefix(s, ".") {
		var frac string
		if frac, s = cutDigits(s[1:]); frac == "" {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		var exp string
		if exp, s = cutDigits(s); exp == "" {
			return false
		}
	}
	return s == ""
}

// cutDigits cuts s behind the digits that it begins with.
func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}
