// Package pipeline moves events from an input topic through operators to a decision topic, exactly once.
//
// A Service joins a consumer group. Each stream that the group assigns to it becomes a task. The task is the only owner
// of that stream's fetch position, operator, transactional producer and range of the local store. A stream is a
// partition of the input, or all of the input (ORIEL_STREAM=topic), read in an order that is fixed before any event is
// read. A task passes events on in one direction:
//
//	fetch -> decode -> step -> one Kafka transaction {decisions, sealed verdicts, sealed state, input offset} -> local store
//
// Each of these parts has a package below this one. A package imports none that is listed after it:
//
//	notice       messages of the pipeline to listeners, and errors that stop a partition
//	deployment   settings and topics of a deployment; creates topics and refuses unsafe ones
//	order        the order in which the partitions of a topic are one stream, and its log
//	merge        reads the partitions in that order
//	streams      the pure walk of records: decode, step, encode
//	changelog    reads manifest, incarnations and sealed states
//	transaction  builds Kafka transactions, and contains the only code that commits them
//	takeover     makes a process the only owner of a partition, and completes earlier owners' transactions
//	userindex    finds users with events in two partitions
//	replay       checkpoints, and the comparison of published decisions with recomputed ones
//
// This package starts and ends these parts. It contains no mathematics: it passes bytes to the machines and decoders of
// operators.
//
// Each guarantee has a test named after it (README, "What is promised"). The guarantees are: one history, one noise for
// unchanged input (G2), exactly once for read_committed consumers (G3), fail closed (G4), nothing else is published
// (G5), bad input takes its place as a null event (G6), bounded memory (G7).
//
// A record that can never be decoded is no error: it is stepped as a null event. Its status, which is sealed like every
// record's status, holds the reason. Package deadletters, in another process, copies the record to the dead-letter
// topic.
package pipeline
