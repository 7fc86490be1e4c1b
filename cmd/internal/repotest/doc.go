// Package repotest has what tests of many packages share of this repository: paths of its files, the blocks and flights
// of its texts, and how much a test repeats.
package repotest
