// Package deadletters writes each record that took its place as a null event to the dead-letter topic, exactly once.
//
// The service publishes nothing that depends on whether a record was bad. Into each transaction it seals a row of
// record statuses, also called verdicts: one byte for each offset, independent of the record's content. This package
// runs in another process, for people who may read the input anyway. It reads the rows, joins them with the input by
// offset, and writes a dead letter, or letter for short, for each record whose status is a fault:
//
//	verdicts (read_committed) -> open -> join with the input -> one Kafka transaction {letters, position in the verdict topic}
//
// In the stream of a whole topic, rows name the partition of each offset, and all letters are in one partition. Letters
// of one input partition are in order; the order between partitions has no meaning.
//
// For each partition it promises:
//   - Complete and once: a letter and the position after it are committed together, under a transactional id that fences
//     every other writer of the partition. The process may be killed at any time, and any number of processes may share
//     the group.
//   - A letter has the record's key, value and headers, then the reason and the record's position as further headers. A
//     letter that exceeds the dead-letter topic's current limit is truncated and marked. A record that retention has
//     deleted leaves a letter without content, marked as lost. Where rows of statuses are missing, one letter without
//     content stands for all of their offsets, with the reason, and letters continue after it.
//   - Fail closed: rows of another incarnation, statuses of a newer version, and records missing from the input without
//     explanation park the partition with a message. A parked partition is retried; the others continue.
//
// Everything about this process (its letters, their times, its running time, its position) reveals which events were
// bad. So only people who may read the input may read or describe the dead-letter topic and the group.
package deadletters
