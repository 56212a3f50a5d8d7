//go:build armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package disk

// The files of a stream are little-endian, and are mapped and used as they are.
// A machine of the other order would read every number wrong, so that it
// doesn't build.
var _ = ledger_needs_a_little_endian_machine
