// Package repotest provides what tests of many packages need of this repository: paths of files, and code blocks and
// flight data from its texts.
package repotest
