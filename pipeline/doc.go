// Package pipeline moves events from an input topic through operators to a decision topic, exactly once.
//
// A Service joins a consumer group; each assigned input partition becomes a task, the only owner of that partition's
// fetch position, operator, transactional producer and range of the local store. A task goes
//
//	fetch -> decode -> step -> one Kafka transaction {decisions, sealed verdicts, sealed state, input offset} -> local store
//
// and never back. The pure part (decode, step, encode) is Stream; the commit stage is the only code that makes anything
// readable outside. The package knows no maths: it sees machines, decoders and bytes.
//
// Guarantees, each with a test named after it (README, "What is promised"): one history, one noise for unchanged input
// (G2), exactly once for read_committed consumers (G3), fail closed (G4), nothing else leaves (G5), bad input takes its
// place as a null event (G6), bounded memory (G7).
//
// Errors are of four kinds (Kind): retry, lost (another member owns the partition), stop, and bug, which panics.
//
// A take-over ends what an earlier owner left open, and makes a transaction whole that has ended in some topics and not
// in others (takeOver). What it does is a function of public facts: offsets, indices and published decisions.
//
// A record that can never be decoded is no error: it is stepped as a null event, and its verdict, sealed like that of
// every record, says why. Package letters, in another process, brings it to the dead-letter topic.
//
// What each topic is for, how it is made and what is checked of it stands in one table, roles.
package pipeline
