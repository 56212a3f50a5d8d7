//go:build !race && !invariants

package segment

// eager is false: mappings stay for the next user.
const eager = false
