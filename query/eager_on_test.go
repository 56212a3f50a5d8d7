//go:build race || invariants

package query

// eager: the last release of a file unmaps it in these builds, so that a use
// after it faults; mapping it again allocates.
const eager = true
