//go:build !linux

package faults

import "errors"

// PowerCut needs Linux.
func PowerCut(string, uint32) (func() error, error) { return nil, errors.ErrUnsupported }

// Limits need Linux.
type Limits struct {
	Files, Space, Size uint64
	Maps               int
}

// Set fails if a limit is asked for.
func (l Limits) Set() error {
	if l != (Limits{}) {
		return errors.ErrUnsupported
	}
	return nil
}
