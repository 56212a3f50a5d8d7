//go:build duckdb

package venue

import (
	_ "github.com/duckdb/duckdb-go/v2" // registers the driver
	_ "github.com/mattn/go-sqlite3"    // the same
)

// Drivers are the SQL engines that this program was built with.
var Drivers = []string{"duckdb", "sqlite3"}

// memory is what a driver calls a database in memory, and divide its division of
// whole numbers.
var (
	memory = map[string]string{"duckdb": "", "sqlite3": ":memory:"}
	divide = map[string]string{"duckdb": "//", "sqlite3": "/"}
)
