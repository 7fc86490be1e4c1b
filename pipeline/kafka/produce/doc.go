// Package produce appends record batches exactly once, and several partitions and a group's offset together.
//
// A Producer takes its transactional id over from every earlier owner, and then Begin, Produce, CommitOffset and End
// follow each other. An outcome that is not known breaks the producer (kafka.ErrBroken): the owner makes another one,
// which ends the open transaction, and reads back what was committed.
package produce
