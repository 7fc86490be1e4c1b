// Package score scores events with published decisions, without access to the rest of a deployment. A Descriptor says
// how feature vectors are made and how much noise weights have. Models holds the newest decision of each stream. An
// answer has the score of one event.
//
// Events to score have no label yet and are private. Their contents must not be in an error, a log or a metric. An
// answer goes only to the client that asked.
package score
