package verify_test

import (
	"path/filepath"

	"example.com/ledger/internal/disk/frozen"
)

// A memory is a stream's directory that tests change the bytes of.
type memory = frozen.Dir

// load reads a directory's files, those of its folders not included.
func load(dir string) memory {
	m := memory{}
	for name, b := range tree(dir) {
		if filepath.Base(name) == name {
			m[name] = []byte(b)
		}
	}
	return m
}

// save writes the files to a directory.
func save(m memory, dir string) string {
	for name, b := range m {
		write(filepath.Join(dir, name), b)
	}
	return dir
}
