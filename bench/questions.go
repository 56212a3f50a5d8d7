//go:build !duckdb

package main

// questions are all, in the order in which they are asked.
var questions = []question{
	{"append", "Appending: throughput, with and without sync", askAppend},
	{"latency", "Latency of single appends at fixed rates", askLatency},
	{"store", "Reading, opening, dropping, size", askStore},
	{"history", "Cost of an append by length of history", askHistory},
	{"query", "Queries over 40-byte fills", askQuery},
	{"soak", "Soak: writers, readers and retention for minutes", askSoak},
}

// invocation is how this program is run.
const invocation = "go run ."
