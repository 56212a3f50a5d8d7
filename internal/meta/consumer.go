package meta

import (
	"fmt"
	"time"

	"example.com/ledger/internal/disk"
)

// Consumers is the folder of the named consumers' positions, a file each.
const Consumers = "consumers"

// A Consumer is the content of consumers/NAME.json.
type Consumer struct {
	Version  int       `json:"version"`
	ID       string    `json:"id"` // of the stream
	Name     string    `json:"name"`
	Position uint64    `json:"position,string"`              // the next number to be read
	Hold     uint64    `json:"hold_records,string,omitzero"` // retention keeps what is unread, at most so many records; 0: it doesn't
	At       time.Time `json:"at"`                           // of the last commit
}

// Encode returns the bytes of the file.
func (c Consumer) Encode() ([]byte, error) {
	c.Version = version
	return seal(c)
}

// DecodeConsumer reads the file. path is for errors only.
func DecodeConsumer(path string, b []byte) (Consumer, error) {
	var c Consumer
	if err := open(path, b, &c); err != nil {
		return Consumer{}, err
	}
	if err := CheckName(c.Name); err != nil {
		return Consumer{}, &disk.CorruptError{Path: path, Offset: -1, Field: "name", Err: err}
	}
	return c, nil
}

// CheckName tells whether name may be a stream's in its root, or a consumer's:
// 1 to 64 of a–z, A–Z, 0–9, '_', '-' and '.', not beginning with '.' or '-'. So
// it can neither leave its directory nor hide in it.
func CheckName(name string) error {
	if len(name) < 1 || len(name) > 64 || name[0] == '.' || name[0] == '-' {
		return fmt.Errorf("%q is not a name of 1 to 64 letters, digits, '_', '-' and '.'", name)
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return fmt.Errorf("%q: %q may not stand in a name", name, c)
		}
	}
	return nil
}
