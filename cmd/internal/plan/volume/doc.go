// Package volume measures the sizes of a stream before any event is read: it opens the stream, and gives it events
// without content.
package volume
