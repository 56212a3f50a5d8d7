package exporter

import (
	"io"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"example.com/ledger/arrow"
	"example.com/ledger/schema"
	"example.com/ledger/segment"
)

// rowGroup is how many records a row group has at most. One is held in memory,
// encoded, until it is written.
const rowGroup = 1 << 19

// dictionaryBytes is how large a column's dictionary gets before it is given up:
// numbers of orders, of which there is no end, are small as differences, not as
// places in a dictionary.
const dictionaryBytes = 64 << 10

// A parquetSink writes a Parquet file.
type parquetSink struct {
	c *arrow.Converter
	w *pqarrow.FileWriter
}

// NewParquet returns a Sink of Parquet: Zstandard pages; seq and ts, which mostly
// grow, as differences; the rest by dictionary as long as that is small, and then
// as differences, too. Decimals of up to 18 digits are integers there, larger ones
// bytes. Texts are by dictionary, too. Of the options Columns, Raw and Texts count.
func NewParquet(w io.Writer, s *schema.Schema, o arrow.Options) (Sink, error) {
	c, err := arrow.NewConverter(s, o)
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST), // nanoseconds stay nanoseconds
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(3),
		parquet.WithMaxRowGroupLength(rowGroup),
		parquet.WithDictionaryPageSizeLimit(dictionaryBytes),
		parquet.WithStoreDecimalAsInteger(true),
		parquet.WithCreatedBy("ledgerctl"),
	}
	for _, f := range c.Schema().Fields() {
		if d, ok := f.Type.(*apache.Decimal128Type); ok && d.Precision > 18 {
			continue // bytes
		}
		if f.Type.ID() == apache.STRING {
			continue
		}
		options = append(options, parquet.WithEncodingFor(f.Name, parquet.Encodings.DeltaBinaryPacked))
		if f.Name == "seq" || f.Name == "ts" {
			options = append(options, parquet.WithDictionaryFor(f.Name, false))
		}
	}
	f, err := pqarrow.NewFileWriter(c.Schema(), only{w}, parquet.NewWriterProperties(options...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	return &parquetSink{c, f}, nil
}

// only hides a Close method: the library would call it.
type only struct{ io.Writer }

func (p *parquetSink) Write(g segment.Segment, at []uint32) error {
	return copyTo(p.c, p.w.WriteBuffered, g, at)
}

func (p *parquetSink) Close() error { return p.w.Close() }
