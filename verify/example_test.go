package verify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// A sealed segment's header is damaged. Verify names the records that it holds,
// and repair makes it anew, for the columns and the footer prove themselves.
func ExampleRepair() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "fills")
	px, err := schema.New(schema.Nanosecond, schema.Field{Name: "px", Kind: schema.I64})
	if err != nil {
		log.Fatal(err)
	}
	s, err := stream.Create(dir, stream.Options{Schema: px, Capacity: 100})
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := s.Append(make([]byte, 100*px.Width())); err != nil {
		log.Fatal(err)
	}
	if err := s.Seal(); err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	file, err := os.OpenFile(filepath.Join(dir, "00000000000000000000.seg"), os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := file.WriteAt(make([]byte, 8), 16); err != nil { // the count
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}

	report, err := verify.Stream(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range report.Problems {
		fmt.Println(p.File, p.Kind, p.FromSeq, p.ToSeq)
	}
	done, err := verify.Repair(context.Background(), dir, true)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range done.Actions {
		fmt.Println(a.Op, a.File, a.FromSeq, a.ToSeq)
	}
	fmt.Println("clean:", done.After.OK)
	// Output:
	// 00000000000000000000.seg header 0 100
	// rebuild 00000000000000000000.seg 0 100
	// clean: true
}
