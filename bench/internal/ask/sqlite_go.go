//go:build !duckdb

package ask

import _ "modernc.org/sqlite" // registers the driver

const (
	sqliteDriver  = "sqlite"
	sqliteTedious = true
)
