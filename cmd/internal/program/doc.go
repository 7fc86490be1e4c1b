// Package program holds what the programs of this module have in common: how they run a command line, say their
// version, and show progress.
package program
