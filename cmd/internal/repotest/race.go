//go:build race

package repotest

// Slack is the factor by which a process needs more memory under the race detector, which keeps several shadow words
// for every word.
const Slack = 8

// Fewer divides the number of repetitions in a test under the race detector. A few repetitions are enough to find
// races.
const Fewer = 4
