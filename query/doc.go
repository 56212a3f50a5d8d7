// Package query asks questions of a stream's records: conditions on any field,
// aggregates, groups by fields and by intervals of time, candles, positions,
// volume at price, and the records themselves, in either direction.
//
//	where, err := query.ParseWhere(v.Schema(), "sym == 3 && px >= 64000.00")
//	res, err := query.From(v).Where(where).By("sym").Every(time.Minute).
//		Run(ctx, query.Count(), query.Sum("qty"), query.VWAP("px", "qty"))
//
// A query reads a snapshot: sealed segments and the active one, in both layouts,
// and as little of them as it can. Segments are skipped by their times, numbers
// and each column's smallest and largest value; sorted times are searched; only
// the columns that are needed are read, and checked when they are first touched.
//
// Results are exact. Sums and products never wrap, and never pass through
// floating point; averages are kept as quotients and rounded when printed, once.
// A result is the same whatever the number of workers.
//
// A damaged or unreadable file is an error, never a wrong number: disk.ErrCorrupt
// or disk.ErrFault with the file's name.
package query
