package engine

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the driver

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "SQLite", Sync: true, NoSync: true, Open: openSQLite})
}

// sqlite has one connection, in WAL mode, with prepared statements: it has one
// writer at a time however many connections there are.
type sqlite struct {
	lock
	db                         *sql.DB
	conn                       *sql.Conn
	insert, begin, commit, get *sql.Stmt
	next                       int64
}

func openSQLite(dir string, o Options) (Engine, error) {
	ctx := context.Background()
	db, err := sql.Open("sqlite", filepath.Join(dir, "sqlite.db"))
	if err != nil {
		return nil, err
	}
	q := &sqlite{lock: newLock(o), db: db}
	if q.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	sync := "pragma synchronous=off"
	if o.Sync {
		sync = "pragma synchronous=full"
	}
	for _, s := range []string{"pragma journal_mode=wal", sync, "create table if not exists fills(seq integer primary key, rec blob not null)"} {
		if _, err := q.conn.ExecContext(ctx, s); err != nil {
			return nil, err
		}
	}
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&q.insert, "insert into fills(seq, rec) values(?, ?)"}, {&q.begin, "begin immediate"}, {&q.commit, "commit"},
		{&q.get, "select rec from fills where seq = ?"},
	} {
		if *p.to, err = q.conn.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return q, q.conn.QueryRowContext(ctx, "select coalesce(max(seq)+1, 0) from fills").Scan(&q.next)
}

func (q *sqlite) Append(recs []byte) error {
	q.lock.lock()
	defer q.lock.unlock()
	many := len(recs) > source.Width
	if many {
		if _, err := q.begin.Exec(); err != nil {
			return err
		}
	}
	for ; len(recs) >= source.Width; recs = recs[source.Width:] {
		if _, err := q.insert.Exec(q.next, recs[:source.Width]); err != nil {
			return err
		}
		q.next++
	}
	if many {
		_, err := q.commit.Exec()
		return err
	}
	return nil
}

func (q *sqlite) Get(dst []byte, seq uint64) ([]byte, error) {
	var b []byte
	err := q.get.QueryRow(int64(seq)).Scan(&b)
	return append(dst, b...), err
}

func (q *sqlite) Scan(from, to uint64, visit func([]byte)) error {
	rows, err := q.conn.QueryContext(context.Background(), "select rec from fills where seq >= ? and seq < ? order by seq", int64(from), int64(to))
	if err != nil {
		return err
	}
	defer rows.Close()
	var b sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&b); err != nil {
			return err
		}
		visit(b)
	}
	return rows.Err()
}

func (q *sqlite) Drop(seq uint64) error {
	_, err := q.conn.ExecContext(context.Background(), "delete from fills where seq < ?", int64(seq))
	return err
}

func (q *sqlite) Close() error {
	return errors.Join(q.insert.Close(), q.begin.Close(), q.commit.Close(), q.get.Close(), q.conn.Close(), q.db.Close())
}
