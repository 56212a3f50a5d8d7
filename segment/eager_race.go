//go:build race || invariants

package segment

// eager makes the last Release unmap, so that a use after it faults.
const eager = true
