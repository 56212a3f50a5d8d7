//go:build duckdb && duckdb_arrow

package interop

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"
	duckdb "github.com/duckdb/duckdb-go/v2"

	"example.com/ledger/arrow"
	"example.com/ledger/stream"
)

// same asks DuckDB for the SHA-256 of each column of a table.
func same(t *testing.T, c *sql.Conn, table string, e export) {
	t.Helper()
	for _, name := range e.columns {
		value := fmt.Sprintf("%q::VARCHAR", name)
		if name == "ts" {
			value = "epoch_ns(ts)::VARCHAR"
		}
		var sum, typ string
		q := fmt.Sprintf("SELECT sha256(string_agg(%s || chr(10), '' ORDER BY seq)), any_value(typeof(%q)) FROM %s", value, name, table)
		if err := c.QueryRowContext(t.Context(), q).Scan(&sum, &typ); err != nil {
			t.Fatal(err)
		}
		want := e.sums[name]
		if typ == "TIMESTAMP WITH TIME ZONE" { // of which DuckDB has only one, with microseconds
			want = e.micros
		}
		if sum != want {
			t.Errorf("%s: %s, a %s, has other values", table, name, typ)
		}
	}
}

// TestDuckDB: DuckDB finds in an exported Parquet file, and in a snapshot that it
// is shown as Arrow, every value of every column; of times the microseconds.
func TestDuckDB(t *testing.T) {
	forEach(t, func(t *testing.T, e export) {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		same(t, c, "'"+e.parquet+"'", e)

		r, err := stream.OpenReader(e.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		v, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		delete(e.sums, "sym") // a stream has no texts, only ledgerctl's dictionary
		for _, name := range e.columns {
			if _, ok := e.sums[name]; ok {
				batches(t, c, v, name, e)
			}
		}
	})
}

// batches asks DuckDB about one column of a snapshot, straight from its memory.
func batches(t *testing.T, c *sql.Conn, v *stream.Snapshot, name string, e export) {
	t.Helper()
	columns := []string{"seq", name}
	if name == "seq" {
		columns = columns[:1]
	}
	rows, err := arrow.NewReader(v, arrow.Options{Columns: columns, Allocator: mallocator.NewMallocator()})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var release func()
	if err := c.Raw(func(conn any) error {
		a, err := duckdb.NewArrowFromConn(conn.(driver.Conn))
		if err != nil {
			return err
		}
		release, err = a.RegisterView(rows, "batches")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer release()
	same(t, c, "batches", export{columns: []string{name}, sums: e.sums, micros: e.micros})
	if _, err := c.ExecContext(context.WithoutCancel(t.Context()), "DROP VIEW IF EXISTS batches"); err != nil {
		t.Fatal(err)
	}
}
