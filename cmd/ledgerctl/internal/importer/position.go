package importer

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"example.com/ledger/cmd/ledgerctl/internal/sidecar"
	"example.com/ledger/internal/meta"
	"example.com/ledger/stream"
)

// PositionFile is the name of the file, beside the stream, that says how far each
// import has come.
const PositionFile = meta.ImportsFile

// A position says how far the import of one file has come. On disk it always
// means this:
//
//   - the first Done records of the file are in the stream, durably;
//   - if any more of them are, they are the records from Next on, in their
//     order, with no other record between.
//
// The second holds because whoever imports holds the stream's lock from before
// the position is written until it dies, and writes a new position before it
// appends at another place. So whoever goes on compares the file's records with
// the stream's from Next on: the first that isn't there was not appended, nor
// was any behind it.
type position struct {
	Sum     string `json:"sha256"` // of the file's content, uncompressed: what the file is, whatever its name
	Name    string `json:"name"`   // for people
	Mapping string `json:"mapping"`
	Records uint64 `json:"records"`
	Done    uint64 `json:"done"`
	Next    uint64 `json:"next"`
}

// positions are all of a stream.
type positions struct {
	Version int        `json:"version"`
	Stream  string     `json:"stream"` // its id
	Imports []position `json:"imports"`

	dir string
}

func loadPositions(dir string, id [16]byte) (*positions, error) {
	p := &positions{Version: 1, Stream: hex.EncodeToString(id[:]), dir: dir}
	var f positions
	ok, err := sidecar.Read(dir, PositionFile, &f)
	switch {
	case err != nil || !ok:
		return p, err
	case f.Version != 1:
		return nil, fmt.Errorf("%w: %s/%s has version %d", stream.ErrVersion, dir, PositionFile, f.Version)
	case f.Stream != p.Stream:
		return nil, &stream.CorruptError{Path: filepath.Join(dir, PositionFile), Offset: -1, Field: "stream", Detail: "the positions of another stream"}
	}
	p.Imports = f.Imports
	return p, nil
}

// find returns the position of the file with that content, nil if it was never
// imported.
func (p *positions) find(sum string) *position {
	i := slices.IndexFunc(p.Imports, func(x position) bool { return x.Sum == sum })
	if i < 0 {
		return nil
	}
	return &p.Imports[i]
}

// put replaces the position of x's file, on disk.
func (p *positions) put(x position) error {
	if old := p.find(x.Sum); old != nil {
		*old = x
	} else {
		p.Imports = append(p.Imports, x)
	}
	return sidecar.Write(p.dir, PositionFile, p)
}
