//go:build !race && !invariants

package stream

// eager: see eager_on_test.go.
const eager = false
