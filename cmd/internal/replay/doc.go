// Package replay recomputes decisions from a file of event lines, without brokers. Each replay is an incarnation of its
// own, with its own noise.
package replay
