package query

import "example.com/ledger/schema"

// depthMax is how deep brackets and nots may nest.
const depthMax = 100

// ParseWhere reads a condition:
//
//	sym == 3 && px >= 64000.00
//	side in [0, 2] || !(qty between 10 and 20)
//	ts >= 2026-11-29T10:00:00Z and ts < 2026-11-29T11:00:00Z
//
// Comparisons are == != < <= > >=, "between A and B" (both included) and
// "in [A, B]", either of them after "not", with the field on the left. They are
// joined by && || ! or and, or, not, in the usual order, and brackets. A value is
// a decimal in the field's own terms, with no more decimals than its scale; for
// ts it is anything that ParseTime takes. Text of nothing but spaces always
// holds.
//
// The error is a *SyntaxError with the place of what is wrong, unknown fields
// and impossible values included.
func ParseWhere(s *schema.Schema, text string) (Pred, error) { return ParseWhereTexts(s, text, nil) }

// Texts are what numbers in some of a stream's fields stand for: symbols, say.
type Texts interface {
	// Has reports whether a field's numbers stand for texts.
	Has(field string) bool
	// Number returns the number that stands for a text in such a field.
	Number(field, text string) (n uint64, ok bool)
}

// ParseWhereTexts is ParseWhere for a stream with texts: in fields that have them
// a text in quotes, of either kind, means its number.
//
//	sym == "BTC-USD" && acct not in ['alice', 'bob']
//
// Texts have no order: they are compared with == != and in. One that has no number
// is an error, unless it can be read as the number itself. The condition holds
// numbers, and does not change when texts are added. texts nil has none.
func ParseWhereTexts(s *schema.Schema, text string, texts Texts) (Pred, error) {
	p, err := parseWhere(s, text, texts)
	return p, inText(err, text)
}

func parseWhere(s *schema.Schema, text string, texts Texts) (Pred, error) {
	toks, err := lex(text)
	if err != nil {
		return Pred{}, err
	}
	if len(toks) == 1 {
		return Pred{}, nil
	}
	p := &parser{s: s, toks: toks, texts: texts}
	n, err := p.or()
	if err != nil {
		return Pred{}, err
	}
	if t := p.peek(); t.kind != tokEnd {
		return Pred{}, badAt(t.pos, "want && or ||, found %v", t)
	}
	return Pred{n}, nil
}

type parser struct {
	s     *schema.Schema
	toks  []token
	texts Texts // may be nil
	at    int
	depth int
}

func (p *parser) peek() token { return p.toks[p.at] }

func (p *parser) peekSecond() token { return p.toks[min(p.at+1, len(p.toks)-1)] }

// next takes a token; the end stays.
func (p *parser) next() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// take takes the next token if it is the sign.
func (p *parser) take(sign string) bool {
	if p.peek().is(sign) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(sign, why string) error {
	if t := p.peek(); !p.take(sign) {
		return badAt(t.pos, "want %s %s, found %v", quote(sign), why, t)
	}
	return nil
}

func (p *parser) or() (*node, error) {
	return p.chain(opOr, "||", "or", func() (*node, error) {
		return p.chain(opAnd, "&&", "and", p.not)
	})
}

// chain reads operands joined by one operator.
func (p *parser) chain(o op, sign, word string, operand func() (*node, error)) (*node, error) {
	n, err := operand()
	if err != nil {
		return nil, err
	}
	kids := []*node{n}
	for p.peek().is(sign) || p.peek().word(word) {
		p.next()
		if n, err = operand(); err != nil {
			return nil, err
		}
		kids = append(kids, n)
	}
	if len(kids) == 1 {
		return kids[0], nil
	}
	return &node{op: o, kids: kids}, nil
}

func (p *parser) not() (*node, error) {
	if p.depth++; p.depth > depthMax {
		return nil, badAt(p.peek().pos, "nested deeper than %d", depthMax)
	}
	defer func() { p.depth-- }()
	t := p.peek()
	switch {
	case t.is("!") || t.word("not") && !p.isField():
		p.next()
		n, err := p.not()
		return &node{op: opNot, kids: []*node{n}}, err
	case t.is("("):
		p.next()
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.want(")", "to close the bracket")
	}
	return p.comparison()
}

// isField reports whether the next token is a field although it looks like a
// keyword: there is one of that name, and something is done with it.
func (p *parser) isField() bool {
	if _, ok := p.s.Index(p.peek().text); !ok {
		return false
	}
	t := p.peekSecond()
	if t.word("in") || t.word("between") || t.word("not") {
		return true
	}
	_, ok := comparisons[t.text]
	return ok && t.kind == tokSign
}

var comparisons = map[string]op{
	"==": opEq, "!=": opNe, "<>": opNe, "<": opLt, "<=": opLe, ">": opGt, ">=": opGe,
}

func (p *parser) comparison() (*node, error) {
	t := p.next()
	if t.kind == tokValue { // a name may begin with a digit
		if _, ok := p.s.Index(t.text); !ok {
			return nil, badAt(t.pos, "want a field, found the value %v: write the field first", t)
		}
	} else if t.kind != tokWord {
		return nil, badAt(t.pos, "want a field, found %v", t)
	}
	c, err := lookup(p.s, t.text, t.pos)
	if err != nil {
		return nil, err
	}
	n := &node{field: t.text, pos: t.pos}
	o := p.next()
	negate := o.word("not")
	if negate {
		o = p.next()
	}
	switch cmp, ok := comparisons[o.text]; {
	case o.word("in"):
		n.op = opIn
		err = p.list(n)
	case o.word("between"):
		n.op = opBetween
		err = p.bounds(n)
	case negate:
		return nil, badAt(o.pos, "want in or between after not, found %v", o)
	case o.is("="):
		return nil, badAt(o.pos, `"=" is no comparison: write "=="`)
	case !ok || o.kind != tokSign:
		return nil, badAt(o.pos, "want a comparison of %s, found %v", c.name, o)
	default:
		n.op = cmp
		err = p.value(n)
	}
	if err != nil {
		return nil, err
	}
	if _, err := n.set(c); err != nil {
		return nil, err
	}
	if negate {
		return &node{op: opNot, kids: []*node{n}}, nil
	}
	return n, nil
}

// value reads a value of n.
func (p *parser) value(n *node) error {
	t := p.next()
	l := literal{form: formText, text: t.text, pos: t.pos}
	switch {
	case t.kind == tokString && p.hasTexts(n.field):
		var err error
		if l, err = p.textValue(n, t); err != nil {
			return err
		}
	case t.kind == tokWord && p.hasTexts(n.field):
		return badAt(t.pos, "want a value for %s, found %v: texts stand in quotes", n.field, t)
	case t.kind != tokValue && t.kind != tokString:
		return badAt(t.pos, "want a value for %s, found %v", n.field, t)
	}
	n.vals = append(n.vals, l)
	return nil
}

func (p *parser) hasTexts(field string) bool { return p.texts != nil && p.texts.Has(field) }

// textValue returns the number of a text, to compare with as n does.
func (p *parser) textValue(n *node, t token) (literal, error) {
	number, ok := p.texts.Number(n.field, t.text)
	if !ok {
		if _, _, _, msg := readDecimal(t.text, 0); msg != "" {
			return literal{}, badAt(t.pos, "%s has no text %v", n.field, t)
		}
		return literal{form: formText, text: t.text, pos: t.pos}, nil
	}
	if n.op != opEq && n.op != opNe && n.op != opIn {
		return literal{}, badAt(t.pos, "texts of %s have no order: compare them with ==, != or in", n.field)
	}
	return literal{mag: number, pos: t.pos}, nil
}

func (p *parser) bounds(n *node) error {
	if err := p.value(n); err != nil {
		return err
	}
	if t := p.next(); !t.word("and") {
		return badAt(t.pos, "want and between the bounds of %s, found %v", n.field, t)
	}
	return p.value(n)
}

func (p *parser) list(n *node) error {
	if err := p.want("[", "before the values of "+n.field); err != nil {
		return err
	}
	if p.take("]") {
		return nil
	}
	for {
		if err := p.value(n); err != nil {
			return err
		}
		if p.take("]") {
			return nil
		}
		if err := p.want(",", "or \"]\" after a value of "+n.field); err != nil {
			return err
		}
	}
}
