// Package streams is the pure computation over records: decode, step, encode.
//
// A Learner opens machines from an operator and its mechanism. A Stream is one machine with the frozen params that it
// was opened from. A Walk takes a Stream over records. Service, repair and replay share the Walk, so that equal records
// give equal bytes. Nothing here does I/O, so the results of a Walk may be dropped at any record.
//
// Semantics is the version of this computation, from a record's bytes to a decision's. It must be raised when any bit
// of a decision changes.
package streams
