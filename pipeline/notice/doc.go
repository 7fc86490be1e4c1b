// Package notice holds what the pipeline says: to a Listener while it works, and as a StopError when a partition cannot
// go on.
//
// Everything here is public. A Listener gets counts, times, offsets and published decisions, never a record. A
// StopError says what was found and what to do about it, and never holds payload.
//
// Errors are of four kinds (Kind): retry, lost (another member owns the partition), stop, and finished. A bug is no
// error: it panics.
package notice
