// Package notice defines the messages of the pipeline: calls of a Listener while it works, and a StopError when a
// partition cannot go on.
//
// All messages are public. A Listener gets counts, times, offsets and published decisions, never a record. A StopError
// has the finding and the remedy, and must never hold payload.
//
// Errors are of four kinds (Kind): retry, lost (another member owns the partition), stop, and finished. A bug is not an
// error: it panics.
package notice
