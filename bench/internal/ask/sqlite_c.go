//go:build duckdb

package ask

import _ "github.com/mattn/go-sqlite3" // registers the driver

const (
	sqliteDriver  = "sqlite3"
	sqliteTedious = false
)
