// Package deadletters writes each record that took its place as a null event to the dead-letter topic, exactly once.
//
// The service publishes nothing that depends on whether a record was bad. It seals a row of verdicts into each
// transaction: one byte for each offset, whatever the record contains. This package runs in another process, for people
// who may read the input anyway. It reads the rows, joins them with the input by offset, and writes a letter for each
// record whose verdict is a reason:
//
//	verdicts (read_committed) -> open -> join with the input -> one Kafka transaction {letters, place in the verdicts}
//
// In the stream of a whole topic, rows name the partitions that their offsets are of. All letters are then in one
// partition. Letters of one partition of the input are in order; the order between partitions means nothing.
//
// For each partition it promises:
//   - Complete and once: a letter and the place behind it are committed together, under a transactional id of the partition
//     that fences every other writer. It may be killed anywhere, and any number of processes may share the group.
//   - A letter has the record's key, value and headers, then the reason and the place as further headers. A letter that is too
//     large for the dead-letter topic, by its limit at that moment, is cut and marked. A record that retention has deleted
//     leaves a letter without content, marked as lost. Where rows of verdicts are missing, one such letter stands for all of
//     their offsets, with the reason, and letters go on behind it.
//   - Fail closed: rows of another incarnation, verdicts of a newer version, and records that the input must have and has
//     not, park the partition with a message. It is tried again; the others go on.
//
// Everything about this process (what it writes, when, how long it takes, where it stands) reveals which events were
// bad. So only people who may read the input may read or describe the dead-letter topic and the group.
package deadletters
