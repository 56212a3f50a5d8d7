// Package interop holds no code but tests: programs of other people read what
// ledgerctl writes of real files, and must find the same values.
//
//	go test -tags duckdb,duckdb_arrow ./interop    # needs a C compiler
//	npm install --prefix interop --no-package-lock && go test -tags node ./interop
//
// The first asks DuckDB, of Parquet files and of a snapshot's Arrow batches. The
// second asks Polars, which is Arrow in Rust, and Arrow's own JavaScript, of
// Parquet and Arrow files, on Linux on amd64. The real files are those of
// ../shared/data, beside a checkout that has them; without them the tests skip
// themselves.
package interop
