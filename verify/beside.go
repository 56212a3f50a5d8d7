package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ledger/internal/meta"
)

// besideKind tells by its name which of the files beside the engine's own a file
// is: a consumer's, or a sidecar; "" if none of them.
func besideKind(path string) string {
	switch base := baseName(path); {
	case base == meta.DictionaryFile:
		return FileDictionary
	case base == meta.ImportsFile:
		return FileImports
	case filepath.Base(filepath.Dir(path)) == meta.Consumers && strings.HasSuffix(base, ".json"):
		return FileConsumer
	}
	return ""
}

// besideKindOf tells the same by a file's first bytes, which begin an object.
func besideKindOf(head string) string {
	switch {
	case strings.Contains(head, `"stream"`) && strings.Contains(head, `"imports"`):
		return FileImports
	case strings.Contains(head, `"stream"`) && strings.Contains(head, `"fields"`):
		return FileDictionary
	case strings.Contains(head, `"name"`) && strings.Contains(head, `"position"`):
		return FileConsumer
	}
	return ""
}

// holds returns what a file beside the engine's own holds, in a few words, or
// what is wrong with it. path is the file's.
func holds(kind, path string, b []byte) (string, error) {
	if kind == FileConsumer {
		m, err := meta.DecodeConsumer(path, b)
		if err != nil {
			return "", err
		}
		// A copy in quarantine may have got another name, one among consumers has not.
		if besideKind(path) == FileConsumer && baseName(path) != m.Name+".json" {
			return "", fmt.Errorf("of consumer %s", m.Name)
		}
		return fmt.Sprintf("%s reads %d next, holds %d", m.Name, m.Position, m.Hold), nil
	}
	if err := meta.CheckSidecar(path, b, ""); err != nil {
		return "", err
	}
	var m struct {
		Stream  string
		Fields  map[string][]json.RawMessage // a text for each number from 1
		Imports []struct{ Records, Done uint64 }
	}
	if err := meta.DecodeSidecar(b, &m); err != nil {
		return "", err
	}
	if _, err := meta.ParseID(m.Stream); err != nil {
		return "", err
	}
	if kind == FileImports {
		open := 0
		for _, i := range m.Imports {
			if i.Done < i.Records {
				open++
			}
		}
		return fmt.Sprintf("imports of files: %d, unfinished: %d", len(m.Imports), open), nil
	}
	var lists []string
	for _, field := range slices.Sorted(maps.Keys(m.Fields)) {
		lists = append(lists, fmt.Sprintf("%s: %d", field, len(m.Fields[field])))
	}
	if len(lists) == 0 {
		return "no texts", nil
	}
	return "texts of " + strings.Join(lists, ", "), nil
}

// describeBeside returns the ranges of a consumer's file or a sidecar.
func describeBeside(kind, path string, b []byte) []Range {
	value, err := holds(kind, path, b)
	ranges := describeObject(kind, b, err)
	if err == nil {
		ranges[0].Value = value
	}
	return ranges
}
