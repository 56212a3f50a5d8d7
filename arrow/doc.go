// Package arrow shows a stream's records as Apache Arrow record batches, for
// DuckDB, Polars, Arrow Flight and whatever else speaks Arrow in memory.
//
//	v, err := s.Snapshot()
//	...
//	defer v.Close()
//	r, err := arrow.NewReader(v, arrow.Options{Columns: []string{"ts", "px", "qty"}})
//	...
//	defer r.Release()
//	for r.Next() {
//		use(r.RecordBatch())
//	}
//	return r.Err()
//
// # Types
//
// seq is uint64, ts is timestamp[ns, us or ms, UTC], a field is the integer of
// its kind, or, where it has a scale, a decimal128 of that scale that holds every
// value of the kind. A field whose numbers stand for Options.Texts is a string.
// Nothing is null. Options.Raw leaves ts and scaled fields the integers that they
// are stored as.
//
// # What is copied
//
// Columns of a sealed segment in the column layout whose Arrow type is that of
// their kind (ts, fields without a scale, all of them with Raw) are not copied: an
// array is the mapped file itself, checked against its CRC before. seq is not
// stored, and made; decimals are converted, and texts looked up; the active
// segment and the row layout are rows, and their columns are gathered.
//
// # How long batches live
//
// A batch holds the files that it shows: they stay mapped, whatever retention
// does, until the last reference on the batch, or on an array taken from it, is
// released. So a batch that is Retained may be used after Next, after the Reader
// was released, and after the snapshot and the stream were closed. One that is
// never released keeps its files mapped, and their space on disk taken, until the
// process ends. Batches must not be written to.
//
// A mapped file that others cut short faults when a batch's values are read: that
// can't be turned into an error in code that isn't ours. Reader itself, and
// Converter, return an error.
package arrow
