package venue

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ledger/schema"
	"example.com/ledger/segment"
	"example.com/ledger/stream"
)

// Tool builds ledgerctl of the checkout that this program was built from, in dir.
// It must be called in a directory of this module.
func Tool(ctx context.Context, dir string) (path string, err error) {
	path = filepath.Join(dir, "ledgerctl")
	root, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "example.com/ledger"))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/ledgerctl")
	build.Dir = strings.TrimSpace(string(root))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	_, err = output(build)
	return path, err
}

// output runs a command; its error says what the command said.
func output(cmd *exec.Cmd) ([]byte, error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", cmd.Args[1:], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, err
}

// Check imports a file of data, asks everything of the stream and of copies of it
// with short segments, in both layouts, and compares the answers with those of
// each SQL engine. It returns the number of answers that were compared; the first
// difference is an error. dir is for what it makes.
func Check(ctx context.Context, tool, data, dir string, f File) (rows, answers int, err error) {
	list, err := f.read(data)
	if err != nil {
		return 0, 0, err
	}
	imported := filepath.Join(dir, "imported")
	if _, err := output(exec.CommandContext(ctx, tool, "import", imported, filepath.Join(data, f.Name), "--preset", f.Preset, "--quiet", "--durability", "os")); err != nil {
		return 0, 0, err
	}
	s, err := copies(imported, dir)
	if err != nil {
		return 0, 0, err
	}
	all := questions(list, s)
	truths := map[string][][]string{}
	for _, driver := range Drivers {
		a, err := askSQL(ctx, driver, list, all)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", driver, err)
		}
		truths[driver] = a
	}
	for _, name := range append([]string{"imported"}, copyNames...) {
		for i, q := range all {
			out, err := output(exec.CommandContext(ctx, tool, append([]string{q.verb, filepath.Join(dir, name), "--raw-values", "--format", "csv"}, q.args...)...))
			if err != nil {
				return 0, 0, err
			}
			got, err := lines(out, q.keep)
			if err != nil {
				return 0, 0, err
			}
			for driver, truth := range truths {
				if want := truth[i]; !slices.Equal(got, want) {
					return 0, 0, fmt.Errorf("%s, %s: %d rows, %s has %d; the first that differ: %s", name, q.name, len(got), driver, len(want), difference(got, want))
				}
				answers++
			}
		}
	}
	return len(list), answers, nil
}

func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "none", "none"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("%s, not %s", g, w)
		}
	}
	return ""
}

// lines returns the rows of a CSV without its head, as far as they are kept.
func lines(out []byte, keep []int) ([]string, error) {
	list, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return nil, err
	}
	var text []string
	for _, cells := range list[1:] {
		if keep != nil {
			var some []string
			for _, i := range keep {
				some = append(some, cells[i])
			}
			cells = some
		}
		text = append(text, strings.Join(cells, ","))
	}
	return text, nil
}

// copyNames are the streams that copies makes.
var copyNames = []string{"columns", "rows"}

// copies copies a stream to others in dir whose segments have 1,000 records, the
// last of which stay active, and returns the schema.
func copies(from, dir string) (*schema.Schema, error) {
	r, err := stream.OpenReader(from)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	v, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	for _, name := range copyNames {
		layout, err := segment.ParseLayout(name)
		if err != nil {
			return nil, err
		}
		s, err := stream.Create(filepath.Join(dir, name), stream.Options{Schema: r.Schema(), Durability: stream.Os, Layout: layout, Capacity: 1000})
		if err != nil {
			return nil, err
		}
		if err := errors.Join(appendAll(s, v), s.Close()); err != nil {
			return nil, err
		}
	}
	return r.Schema(), nil
}

func appendAll(s *stream.Stream, v *stream.Snapshot) error {
	var recs []byte
	for b, err := range v.Range(0, v.End()) {
		if err != nil {
			return err
		}
		for lo := 0; lo < b.Len(); lo += 1000 {
			if recs, err = b.Segment().Rows(recs[:0], lo, min(lo+1000, b.Len())); err != nil {
				return err
			}
			if _, _, err := s.Append(recs); err != nil {
				return err
			}
		}
	}
	return nil
}

// askSQL makes a table of rows in memory and answers all questions of it.
func askSQL(ctx context.Context, driver string, rows []row, all []question) (answers [][]string, err error) {
	db, err := sql.Open(driver, memory[driver])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "create table t(seq bigint primary key, ts bigint, px bigint, qty bigint, side bigint, sym bigint)"); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	const many = 500
	for lo := 0; lo < len(rows); lo += many {
		var text []byte
		for i, r := range rows[lo:min(lo+many, len(rows))] {
			text = fmt.Appendf(text, ",(%d,%d,%d,%d,%d,%d)", lo+i, r.ts, r.px, r.qty, r.side, r.sym)
		}
		if _, err := tx.ExecContext(ctx, "insert into t values "+string(text[1:])); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	for _, q := range all {
		a, err := answer(ctx, db, strings.NewReplacer("/M", divide[driver]+"1000000", "%M", "%1000000").Replace(q.sql))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		if len(a) == 0 {
			return nil, fmt.Errorf("%s has no rows: nothing would be compared", q.name)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// answer returns the rows that SQL gives, with the four parts of a product as one.
func answer(ctx context.Context, db *sql.DB, text string) ([]string, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, to := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		to[i] = &cells[i]
	}
	var out []string
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		var text []string
		sum := new(big.Int)
		for i, c := range cells {
			cell := "" // of NULL, the sum of no rows
			if c != nil {
				cell = fmt.Sprint(c) // a whole number: int64, or *big.Int of DuckDB
			}
			weight := weights[names[i]]
			if weight == nil {
				text = append(text, cell)
				continue
			}
			if v, ok := new(big.Int).SetString(cell, 10); ok {
				sum.Add(sum, v.Mul(v, weight))
			} else if cell != "" {
				return nil, fmt.Errorf("%q is no whole number", cell)
			}
			if names[i] == "p0" {
				text = append(text, sum.String())
			}
		}
		out = append(out, strings.Join(text, ","))
	}
	return out, rows.Err()
}

// weights are those of the parts of a product.
var weights = map[string]*big.Int{"p3": big.NewInt(1e12), "p2": big.NewInt(1e6), "p1": big.NewInt(1e6), "p0": big.NewInt(1)}
