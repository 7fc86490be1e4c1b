// Package deadletters brings records that took their place as null events to the dead-letter topic, exactly once.
//
// The service publishes nothing that depends on whether a record was bad: it seals a row of verdicts into each
// transaction, one byte an offset, whatever the bytes say. This package is another process, of whoever may read the
// input anyway. It reads the rows, joins them with the input by offset, and writes a letter for each record that has a
// reason:
//
//	verdicts (read_committed) -> open -> join with the input -> one Kafka transaction {letters, place in the verdicts}
//
// In the stream of a whole topic, rows say which offsets of which partitions they cover. Letters are then in one
// partition, and in order for each partition of the input; between partitions their order says nothing.
//
// What it promises, for each partition:
//   - Complete and once: a letter and the place behind it are committed together, under a transactional id of the partition
//     that fences every other writer. It may be killed anywhere, and any number of processes may share the group.
//   - A letter has the record's key, value and headers, and then the reason and the place, as headers. What the dead-letter topic
//     would not take, by its limit at that moment, is cut and marked. A record that retention has deleted leaves a letter
//     without content, marked as lost. Where rows of verdicts are missing, one such letter stands for all of their offsets,
//     with the reason, and letters go on behind it.
//   - Fail closed: rows of another incarnation, verdicts of a newer version, records that the input does not have though it
//     must. The partition is parked, with a message, and tried again; the others go on.
//
// Everything about it (what it writes, when, how long it takes, where it stands) tells which events were bad. Who may
// read or describe the dead-letter topic or the group must be who may read the input.
package deadletters
