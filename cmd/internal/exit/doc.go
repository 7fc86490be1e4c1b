// Package exit says how a program ends: what it prints of an error, and its exit code.
package exit
