//go:build duckdb

package main

// questions are those that DuckDB can be asked. The others are left out, so that
// their peers need not be built with a C compiler at hand.
var questions = []question{
	{"query", "Queries over 40-byte fills", askQuery},
}

// invocation is how this program is run.
const invocation = "go run -tags duckdb ."
