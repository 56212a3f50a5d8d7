package segment

// Eager tells the tests whether the last Release unmaps.
const Eager = eager
