// Package streams is the pure way of records: decode, step, encode.
//
// A Learner opens machines from an operator and its mechanism. A Stream is one machine with the frozen params that it
// was opened from. A Walk takes a Stream over records. Service, repair and replay share the Walk, so that equal records
// give equal bytes. Nothing here does I/O: what a Walk has computed may be dropped at any record.
//
// Semantics numbers what becomes of a record's bytes. It must be raised when one bit of a decision changes.
package streams
