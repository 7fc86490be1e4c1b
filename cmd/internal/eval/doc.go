// Package eval runs settings over a user's events, as the service would run them. It is what the reports of `oriel eval`
// have in common, and knows no file, topic or flag.
//
//	race     scores each event with the newest decision that was public before the event
//	numbers  compares published numbers about events with the true numbers
//
// An Entry is a setting with the machines that run it: one with the noise of each seed, and one without noise. A Runner
// runs streams.Walk over streams.Stream, so decoding, null events, the separation of users, batches and noise are those
// of the service. Noise comes from public, numbered seeds. Therefore the decisions are no private releases, and only
// figures leave these packages. These figures, too, are functions of the events that no mechanism protects.
package eval
