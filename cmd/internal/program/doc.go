// Package program holds code that all programs of this module share: running a command line, printing the version, and
// showing progress.
package program
