package query

import (
	"cmp"
	"slices"
)

// A Result is a table of exact values: a row for each group, its key first. Any
// number of goroutines may read it.
type Result struct {
	// Columns describes the columns: the interval's begin, named ts, if the query
	// has intervals, then the fields it groups by, then the aggregates.
	Columns []Column
	// Keys is the number of columns before the aggregates.
	Keys  int
	Stats Stats

	p    *plan
	g    *groups
	rows []int
}

func (q *Query) result(p *plan, g *groups, stats Stats) (*Result, error) {
	r := &Result{Stats: stats, p: p, g: g}
	if p.every > 0 {
		t := columnAt(p.s, colTime)
		r.Columns = append(r.Columns, Column{Name: t.name, Kind: t.kind, Time: true})
	}
	for _, k := range p.keys {
		r.Columns = append(r.Columns, Column{Name: k.name, Kind: k.kind, Scale: k.scale, Time: k.id == colTime})
	}
	r.Keys = len(r.Columns)
	for _, a := range p.aggs {
		r.Columns = append(r.Columns, a.col)
	}
	r.rows = g.sorted()
	if q.top > 0 {
		r.rows = r.largest(q.top, &p.aggs[q.topBy])
	}
	return r, nil
}

// largest returns the n rows whose value of a is largest, of equal ones the
// earlier ones.
func (r *Result) largest(n int, a *boundAgg) []int {
	type entry struct {
		at int // in rows
		v  Value
	}
	best := top[entry]{n: n, cmp: func(x, y entry) int {
		return cmp.Or(y.v.Cmp(x.v), cmp.Compare(x.at, y.at))
	}}
	for at, row := range r.rows {
		best.add(entry{at, a.value(r.g.at(row))})
	}
	var rows []int
	for _, e := range best.sorted() {
		rows = append(rows, r.rows[e.at])
	}
	return rows
}

// Len returns the number of rows.
func (r *Result) Len() int { return len(r.rows) }

// At returns the value in a row and a column, both from 0. It panics outside.
func (r *Result) At(row, column int) Value {
	i := r.rows[row]
	if column >= r.Keys {
		return r.p.aggs[column-r.Keys].value(r.g.at(i))
	}
	word := r.g.key(i)[column]
	if r.p.every > 0 && column == 0 {
		from, _ := intervalBounds(int64(word), r.p.every)
		return intValue(wideInt(from), 0)
	}
	c := r.Columns[column]
	return fieldValue(word, c.Kind, c.Scale)
}

// Column returns the number of the column of a name; ok is false if there is none.
func (r *Result) Column(name string) (i int, ok bool) {
	i = slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name })
	return i, i >= 0
}
