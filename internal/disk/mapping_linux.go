package disk

import "os"

// On Linux a mapping needs nothing but its pages: fdatasync of any description
// writes back what was stored into any mapping of the file.
type mapTie struct{}

func (mapTie) hold(f *os.File, _ bool) (*os.File, error) { return f, nil }
func (mapTie) enter(*osMapping)                          {}
func (mapTie) leave(*osMapping)                          {}
func (mapTie) release()                                  {}
