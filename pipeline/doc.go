// Package pipeline moves events from an input topic through operators to a decision topic, exactly once.
//
// A Service joins a consumer group. Each stream that the group assigns to it becomes a task. The task is the only owner
// of that stream's fetch position, operator, transactional producer and range of the local store. A stream is a
// partition of the input, or all of the input (ORIEL_STREAM=topic), read in an order that is fixed before any event is
// looked at. A task passes events on in one direction:
//
//	fetch -> decode -> step -> one Kafka transaction {decisions, sealed verdicts, sealed state, input offset} -> local store
//
// Each of these parts has a package below this one. A package imports none that is listed after it:
//
//	notice       messages of the pipeline to listeners, and errors that stop a partition
//	deployment   settings and topics of a deployment, how topics are made and which are refused
//	order        the order in which the partitions of a topic are one stream, and its log
//	merge        reads the partitions in that order
//	streams      the pure walk of records: decode, step, encode
//	changelog    manifest, incarnations and sealed states, and how they are read back
//	transaction  builds Kafka transactions, and contains the only code that commits them
//	takeover     how a partition gets one owner, and how an earlier owner's transactions are completed
//	replay       checkpoints, and the comparison of published decisions with recomputed ones
//
// This package starts and ends them. It contains no mathematics: to it, operators are machines and decoders with bytes.
//
// Guarantees, each with a test named after it (README, "What is promised"): one history, one noise for unchanged input
// (G2), exactly once for read_committed consumers (G3), fail closed (G4), nothing else leaves (G5), bad input takes its
// place as a null event (G6), bounded memory (G7).
//
// A record that can never be decoded is no error: it is stepped as a null event. Its verdict, which is sealed like that
// of every record, holds the reason. Package deadletters, in another process, copies the record to the dead-letter
// topic.
package pipeline
