//go:build duckdb

package ask

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/duckdb/duckdb-go/v2"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "DuckDB table", File: "duck.db", Load: loadDuckDB, Open: func(dir string, n uint64, threads int) (Engine, error) {
		return openDuckDB(dir, n, threads, "fills")
	}})
	register(Kind{Name: "DuckDB Parquet", Needs: "DuckDB table", File: "fills.parquet", Open: func(dir string, n uint64, threads int) (Engine, error) {
		return openDuckDB(dir, n, threads, "read_parquet('"+parquet(dir)+"')")
	}})
}

func parquet(dir string) string { return filepath.Join(dir, "fills.parquet") }

// loadDuckDB fills a table through an appender, and copies it to Parquet.
func loadDuckDB(dir string, n uint64) (err error) {
	c, err := duckdb.NewConnector(filepath.Join(dir, "duck.db"), nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err = db.Exec("create table fills(seq ubigint, ts bigint, px integer, qty integer, taker uinteger, maker uinteger, sym usmallint, side utinyint, flags utinyint)"); err != nil {
		return err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	a, err := duckdb.NewAppenderFromConn(conn, "", "fills")
	if err != nil {
		return err
	}
	seq := uint64(0)
	var row [9]driver.Value
	err = each(n, func(b []byte) error {
		for ; len(b) > 0; b = b[source.Width:] {
			f := fields(seq, b)
			row = [9]driver.Value{seq, f[1], int32(f[2]), int32(f[3]), uint32(f[4]), uint32(f[5]), uint16(f[6]), uint8(f[7]), uint8(f[8])}
			if err := a.AppendRow(row[:]...); err != nil {
				return err
			}
			seq++
		}
		return nil
	})
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	for _, s := range []string{"checkpoint", "copy fills to '" + parquet(dir) + "' (format parquet)"} {
		if _, err = db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

func openDuckDB(dir string, n uint64, threads int, from string) (Engine, error) {
	db, err := sql.Open("duckdb", fmt.Sprintf("%s?threads=%d&access_mode=READ_ONLY", filepath.Join(dir, "duck.db"), threads))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	// first() and last() have no order with two threads: the price of the smallest seq is meant.
	d := dialect{wide: "::bigint", whole: "sum(%s)::bigint", open: "arg_min(px, seq)", close: "arg_max(px, seq)", div: "//"}
	return &sqlEngine{db, texts(d, from, n, "")}, nil
}
