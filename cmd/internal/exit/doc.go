// Package exit ends a program: it prints an error, and chooses the exit code.
package exit
