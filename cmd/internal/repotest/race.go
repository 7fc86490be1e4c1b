//go:build race

package repotest

// Slack is the factor by which a process needs more memory with the race detector, which shadows every word with
// several.
const Slack = 8

// Fewer divides the number of repetitions in a test with the race detector. A few repetitions are enough to find races.
const Fewer = 4
