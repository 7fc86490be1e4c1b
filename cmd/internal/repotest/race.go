//go:build race

package repotest

// Slack is how much more memory a process takes with the race detector, which shadows every word with several.
const Slack = 8

// Fewer divides what a test repeats that is as good a test of races when it is done a few times.
const Fewer = 4
