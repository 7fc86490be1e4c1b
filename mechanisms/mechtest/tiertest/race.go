//go:build race

package tiertest

// Slack is the factor by which a process may allocate more under the race detector. The detector keeps several shadow
// words for every word, and sync.Pool then drops buffers at random.
const Slack = 8

// Fewer divides the number of repetitions in a test under the race detector. A few repetitions are enough to find
// races.
const Fewer = 4
