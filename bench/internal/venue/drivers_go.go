//go:build !duckdb

package venue

import _ "modernc.org/sqlite" // registers the driver

// Drivers are the SQL engines that this program was built with.
var Drivers = []string{"sqlite"}

// memory is what a driver calls a database in memory, and divide its division of
// whole numbers.
var (
	memory = map[string]string{"sqlite": ":memory:"}
	divide = map[string]string{"sqlite": "/"}
)
