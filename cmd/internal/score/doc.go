// Package score scores events with decisions: it reads what a deployment publishes, and needs nothing else of it. A
// Descriptor says how vectors are made and how much noise weights have, Models hold the newest decision of each stream,
// and an Answer has the score of one event.
//
// Events to score have no label yet and are private. Nothing of them is in an error, a log or a metric; an answer goes
// to the one who asked.
package score
