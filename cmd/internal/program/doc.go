// Package program holds code that all programs of this module share: running a command line, ending on a signal,
// printing the version, and showing progress.
package program
