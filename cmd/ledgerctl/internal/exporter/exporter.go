// Package exporter writes records to files of other formats: Arrow IPC, Parquet,
// and a raw segment. A Sink writes one format to any writer; File makes of it a
// file that is there whole or not at all.
//
// A Sink belongs to one goroutine.
package exporter

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"example.com/ledger/arrow"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// A Sink takes records in order and writes them as one format.
type Sink interface {
	// Write takes the records of g at the positions in at, all of them if at is
	// nil. Both may be used again afterwards.
	Write(g segment.Segment, at []uint32) error
	// Close ends the format. It doesn't close what is written to. It must be
	// called after an error, too.
	Close() error
}

// A Format is what a file's name ends with, behind the point.
type Format string

// What can be written.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Arrow   Format = "arrow"
	Parquet Format = "parquet"
	Segment Format = "seg"
)

var formats = []Format{CSV, JSONL, Arrow, Parquet, Segment}

// ErrFormat: the file's name doesn't say what is to be written.
var ErrFormat = errors.New("not a format that can be written")

// FormatOf returns the format that a file's name asks for.
func FormatOf(path string) (Format, error) {
	name := strings.ToLower(path)
	i := slices.IndexFunc(formats, func(f Format) bool { return strings.HasSuffix(name, "."+string(f)) })
	if i < 0 {
		var ends []string
		for _, f := range formats {
			ends = append(ends, "."+string(f))
		}
		return "", fmt.Errorf("%w: %q ends in none of %s", ErrFormat, path, strings.Join(ends, " "))
	}
	return formats[i], nil
}

// An arrowSink writes an Arrow IPC file, uncompressed, so that it can be mapped.
type arrowSink struct {
	c *arrow.Converter
	w *ipc.FileWriter
}

// NewArrow returns a Sink of the Arrow IPC file format. Of the options Columns,
// Raw and Texts count.
func NewArrow(w io.Writer, s *schema.Schema, o arrow.Options) (Sink, error) {
	c, err := arrow.NewConverter(s, o)
	if err != nil {
		return nil, err
	}
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(c.Schema()))
	if err != nil {
		return nil, err
	}
	return &arrowSink{c, f}, nil
}

func (a *arrowSink) Write(g segment.Segment, at []uint32) error { return copyTo(a.c, a.w.Write, g, at) }

func (a *arrowSink) Close() error { return a.w.Close() }

// copyTo hands records on as a batch.
func copyTo(c *arrow.Converter, write func(apache.RecordBatch) error, g segment.Segment, at []uint32) error {
	b, err := c.Copy(g, at)
	if err != nil {
		return err
	}
	defer b.Release()
	return write(b)
}
