// Package repotest has the parts of this repository that tests of many packages need: paths of files, code blocks and
// flight data from its texts, and factors for memory and repetitions under the race detector.
package repotest
