package arrow_test

import (
	"fmt"
	"os"
	"path/filepath"

	"example.com/ledger/arrow"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

func Example() {
	root, err := os.MkdirTemp("", "arrow")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	s, err := stream.Create(filepath.Join(root, "fills"), stream.Options{Schema: shapes.FillSchema()})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	fills, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		panic(err)
	}
	if _, _, err := fills.Append([]shapes.Fill{{TS: 1, Px: 6412350, Qty: 3}, {TS: 2, Px: 6412400, Qty: 1}}); err != nil {
		panic(err)
	}
	v, err := s.Snapshot()
	if err != nil {
		panic(err)
	}
	defer v.Close()
	r, err := arrow.NewReader(v, arrow.Options{Columns: []string{"px", "qty"}})
	if err != nil {
		panic(err)
	}
	defer r.Release()
	for r.Next() {
		b := r.RecordBatch()
		fmt.Println(b.Schema().Field(0).Type, b.Column(0), b.Column(1))
	}
	if err := r.Err(); err != nil {
		panic(err)
	}
	// Output: decimal(10, 2) [64123.5 64124] [3 1]
}
