// Package produce appends record batches exactly once, and commits several partitions and a group's offset together.
//
// A Producer takes its transactional id over from every earlier owner. Then its owner calls Begin, Produce,
// CommitOffsets and End, in this order. If it is unknown whether a request was done, the producer is broken
// (kafka.ErrBroken). Then the owner must make another producer, which ends the open transaction, and read which records
// were committed.
package produce
