// Package score scores events with published decisions; it needs nothing else of a deployment. A Descriptor says how
// vectors are made and how much noise weights have. Models hold the newest decision of each stream. An answer has the
// score of one event.
//
// Events to score have no label yet and are private. Nothing of them is in an error, a log or a metric. An answer goes
// only to the client that asked.
package score
