// Package pipeline moves events from an input topic through operators to a decision topic, exactly once.
//
// A Service joins a consumer group; each stream that it is given becomes a task, the only owner of that stream's fetch
// position, operator, transactional producer and range of the local store. A stream is a partition of the input, or all
// of the input (ORIEL_STREAM=topic), read in an order that is fixed before any event is looked at. A task goes
//
//	fetch -> decode -> step -> one Kafka transaction {decisions, sealed verdicts, sealed state, input offset} -> local store
//
// and never back. Each of these thoughts has a package below this one, and none imports another that stands further
// right:
//
//	notice       what the pipeline says: to listeners, and as errors that stop a partition
//	deployment   settings and topics of a deployment, how topics are made and what is refused of them
//	order        in which order the partitions of a topic are one stream, and who writes that down
//	merge        reads them in that order
//	streams      the pure walk of records: decode, step, encode
//	changelog    manifest, incarnations and sealed states, and how they are read back
//	transaction  what one Kafka transaction makes readable, who fills it, and the only code that commits it
//	takeover     how a partition gets one owner, and what an earlier owner left undone
//	replay       checkpoints, and published decisions compared with recomputed ones
//
// This package starts and ends them. It knows no maths: it sees machines, decoders and bytes.
//
// Guarantees, each with a test named after it (README, "What is promised"): one history, one noise for unchanged input
// (G2), exactly once for read_committed consumers (G3), fail closed (G4), nothing else leaves (G5), bad input takes its
// place as a null event (G6), bounded memory (G7).
//
// A record that can never be decoded is no error: it is stepped as a null event, and its verdict, sealed like that of
// every record, says why. Package deadletters, in another process, brings it to the dead-letter topic.
package pipeline
