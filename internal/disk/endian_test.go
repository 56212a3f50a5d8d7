package disk

import (
	"go/build"
	"testing"
)

// TestBigEndianIsRefused: the file that doesn't build is built where, and only
// where, the order of bytes is the other one.
func TestBigEndianIsRefused(t *testing.T) {
	for arch, want := range map[string]bool{
		"ppc64": true, "s390x": true, "mips": true, "mips64": true,
		"386": false, "amd64": false, "arm": false, "arm64": false, "loong64": false, "mipsle": false,
		"mips64le": false, "ppc64le": false, "riscv64": false, "wasm": false,
	} {
		context := build.Default
		context.GOARCH = arch
		if got, err := context.MatchFile(".", "endian_big.go"); got != want || err != nil {
			t.Errorf("%s: endian_big.go is built: %v, %v, want %v", arch, got, err, want)
		}
	}
}
