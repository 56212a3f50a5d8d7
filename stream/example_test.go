package stream_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.com/ledger/retention"
	"example.com/ledger/segment"
	"example.com/ledger/shapes"
	"example.com/ledger/stream"
)

// temp is a directory for an example.
func temp() (dir string, remove func()) {
	root, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(root, "fills"), func() { os.RemoveAll(root) }
}

func Example() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fills, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		log.Fatal(err)
	}
	first, n, err := fills.Append([]shapes.Fill{
		{TS: 1, Px: 6412350, Qty: 3, Sym: 7},
		{TS: 2, Px: 6412400, Qty: 1, Sym: 7},
	})
	if err != nil {
		log.Fatal(err) // else both are on disk
	}
	fmt.Println("appended", n, "from number", first)

	snap, err := s.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	volume := 0
	for batch, err := range snap.Range(snap.First(), snap.End()) {
		if err != nil {
			log.Fatal(err)
		}
		qty, err := segment.ColumnOf[int32](batch.Segment(), "qty")
		if err != nil {
			log.Fatal(err)
		}
		for i := range qty.Len() {
			volume += int(qty.At(i))
		}
	}
	fmt.Println("volume", volume)
	// Output:
	// appended 2 from number 0
	// volume 4
}

func ExampleStream_Tail() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Durability: stream.Sealed})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fills, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for i := range 3 {
			if _, _, err := fills.Append([]shapes.Fill{{TS: int64(i), Qty: 10}}); err != nil {
				log.Fatal(err)
			}
		}
	}()
	seen := 0
	for batch, err := range s.Tail(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		if seen += batch.Len(); seen == 3 {
			break
		}
	}
	fmt.Println("seen", seen)
	// Output: seen 3
}

func ExampleStream_AppendAsync() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.OrderSchema()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	orders, err := stream.Bind[shapes.Order](s)
	if err != nil {
		log.Fatal(err)
	}
	first, n, err := orders.AppendAsync([]shapes.Order{{TS: 1, Px: 100, Qty: 5}})
	if err != nil {
		log.Fatal(err)
	}
	// The matching loop goes on here; before it acknowledges:
	if err := s.WaitDurable(context.Background(), first+stream.Seq(n)); err != nil {
		log.Fatal(err)
	}
	fmt.Println("durable below", s.Cursors().Durable)
	// Output: durable below 1
}

func ExampleStream_Retain() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema(), Capacity: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		if _, _, err := s.Append(make([]byte, 2*40)); err != nil {
			log.Fatal(err)
		}
	}
	if err := s.Seal(); err != nil {
		log.Fatal(err)
	}
	gone, err := s.Retain(retention.Policy{BeforeSeq: 4}, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(gone), "segments dropped")
	snap, err := s.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	_, err = snap.Get(nil, 1)
	fmt.Println(errors.Is(err, stream.ErrDropped), err)
	// Output:
	// 2 segments dropped
	// true ledger: records [0, 4) are gone: retention: before-seq
}

func ExampleOpenReader() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.Append(make([]byte, 5*40)); err != nil {
		log.Fatal(err)
	}
	r, err := stream.OpenReader(dir) // beside the writer, in any process
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	snap, err := r.Snapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snap.Close()
	fmt.Println("records", snap.End()-snap.First())
	var fills []shapes.Fill // or your own struct, whose memory is the record
	for batch, err := range snap.Range(snap.First(), snap.End()) {
		if err != nil {
			log.Fatal(err)
		}
		if fills, err = stream.Records(fills, batch); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("the last one is number", fills[len(fills)-1].Seq)
	// Output:
	// records 5
	// the last one is number 4
}

// A consumer reads beside the writer, mostly in a process of its own, and goes on
// where it committed.
func ExampleOpenConsumer() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.FillSchema()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fills, err := stream.Bind[shapes.Fill](s)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if _, _, err := fills.Append([]shapes.Fill{{Qty: 3}, {Qty: 4}}); err != nil {
			log.Fatal(err)
		}
		deal(dir)
	}
	// Output:
	// records [0, 2): 7 traded
	// records [2, 4): 7 traded
}

// deal is the other process: it deals with what is new, and ends.
func deal(dir string) {
	c, err := stream.OpenConsumer(dir, "risk")
	if err != nil {
		log.Fatal(err)
	}
	r, err := stream.OpenReader(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for batch, err := range r.Tail(context.Background(), c.Position()) {
		if errors.Is(err, stream.ErrDropped) {
			continue // retention was faster: the error names the range
		}
		if err != nil {
			log.Fatal(err)
		}
		qty, err := segment.ColumnOf[int32](batch.Segment(), "qty")
		if err != nil {
			log.Fatal(err)
		}
		sum := 0
		for i := range qty.Len() {
			sum += int(qty.At(i))
		}
		fmt.Printf("records [%d, %d): %d traded\n", batch.First(), batch.End(), sum)
		if err := c.Commit(batch.End()); err != nil { // after the work: at least once
			log.Fatal(err)
		}
		break // a real one goes on until its context ends
	}
}

func ExampleStream_AppendOnce() {
	dir, remove := temp()
	defer remove()
	s, err := stream.Create(dir, stream.Options{Schema: shapes.OrderSchema()})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	gateway := stream.ProducerID{1}
	for range 2 { // the answer to the first was lost: the gateway sends it again
		first, n, err := s.AppendOnce(gateway, 1, make([]byte, 3*40))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("records", first, "to", first+stream.Seq(n)-1)
	}
	fmt.Println("next", s.Cursors().Appended)
	// Output:
	// records 0 to 2
	// records 0 to 2
	// next 3
}
