package ask

import (
	"database/sql"
	"path/filepath"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "SQLite", Single: true, Slow: true, Tedious: sqliteTedious, Load: loadSQLite, Open: openSQLite})
}

// loadSQLite uses sqliteDriver: C's with the tag duckdb, and a translation of it
// to Go otherwise.
func loadSQLite(dir string, n uint64) error {
	db, err := sql.Open(sqliteDriver, filepath.Join(dir, "lite.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"pragma journal_mode=off", "pragma synchronous=off", "pragma cache_size=-500000",
		"create table fills(seq integer primary key, ts integer, px integer, qty integer, taker integer, maker integer, sym integer, side integer, flags integer)"} {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.Prepare("insert into fills values(?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return err
	}
	seq := uint64(0)
	err = each(n, func(b []byte) error {
		for ; len(b) > 0; b = b[source.Width:] {
			f := fields(seq, b)
			if _, err := insert.Exec(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]); err != nil {
				return err
			}
			seq++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.Exec("create index fills_ts on fills(ts)")
	return err
}

func openSQLite(dir string, n uint64, _ int) (Engine, error) {
	db, err := sql.Open(sqliteDriver, filepath.Join(dir, "lite.db"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"pragma mmap_size=4000000000", "pragma cache_size=-100000", "pragma temp_store=memory"} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	d := dialect{whole: "sum(%s)", div: "/"}
	candles := "select g.m, g.sym, (select px from fills where seq=g.a), h, l, (select px from fills where seq=g.b), v from " +
		"(select sym, ts/60000000000 as m, max(px) h, min(px) l, sum(qty) v, min(seq) a, max(seq) b from fills group by sym, m) g"
	return &sqlEngine{db, texts(d, "fills", n, candles)}, nil
}
