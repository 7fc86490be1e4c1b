// Package repotest provides what tests of many packages need of this repository: paths of files, code blocks and flight
// data from its texts, and factors for memory and repetitions under the race detector.
package repotest
