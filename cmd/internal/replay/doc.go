// Package replay recomputes decisions from a file of event lines, as an incarnation of its own and without brokers.
package replay
