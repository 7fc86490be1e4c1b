// Package replay saves the sealed state of a partition as a checkpoint, and later recomputes the decisions after it
// from the input topic and compares them with the published ones, byte for byte (`oriel replay --save`, `--check`).
//
// It writes nothing, and uses the same walk over records as the service.
package replay
