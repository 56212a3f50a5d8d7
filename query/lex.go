package query

import "strings"

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // a name or a keyword
	tokValue            // a number, or a time without quotes
	tokString           // text in quotes; text is without them
	tokSign             // an operator, a bracket, a comma
)

type token struct {
	kind tokenKind
	text string
	pos  int // bytes
}

// signs are tried in order: longer ones first.
var signs = []string{"&&", "||", "==", "!=", "<>", "<=", ">=", "<", ">", "=", "!", "(", ")", "[", "]", ",", "*"}

// lex cuts text into tokens; the last is tokEnd.
func lex(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case isLetter(c):
			j := i
			for j < len(text) && (isLetter(text[j]) || isDigit(text[j])) {
				j++
			}
			out = append(out, token{tokWord, text[i:j], i})
			i = j
		case isDigit(c) || (c == '-' || c == '+') && i+1 < len(text) && isDigit(text[i+1]):
			j := i + 1
			for j < len(text) && (isLetter(text[j]) || isDigit(text[j]) || strings.IndexByte(".:+-\xc2\xb5", text[j]) >= 0) {
				j++
			}
			out = append(out, token{tokValue, text[i:j], i})
			i = j
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil, badAt(i, "the quote is not closed")
			}
			out = append(out, token{tokString, text[i+1 : i+1+n], i})
			i += n + 2
		default:
			s := sign(text[i:])
			if s == "" {
				return nil, badAt(i, "%s has no meaning here", quote(firstRune(text[i:])))
			}
			out = append(out, token{tokSign, s, i})
			i += len(s)
		}
	}
	return append(out, token{tokEnd, "", len(text)}), nil
}

func sign(s string) string {
	for _, x := range signs {
		if strings.HasPrefix(s, x) {
			return x
		}
	}
	return ""
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// is reports whether t is a sign.
func (t token) is(sign string) bool { return t.kind == tokSign && t.text == sign }

// word reports whether t is a keyword, in capitals or not.
func (t token) word(w string) bool { return t.kind == tokWord && strings.EqualFold(t.text, w) }

// String returns t for a message.
func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokString:
		return "'" + t.text + "'"
	}
	return quote(t.text)
}
