//go:build !race && !invariants

package query

// eager: see eager_on_test.go.
const eager = false
