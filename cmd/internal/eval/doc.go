// Package eval scores settings on a user's events. It scores each event with the newest decision that was public before
// the event, and only then learns from the event, as the service would. It is the part of `oriel eval` that knows no
// file, topic or flag.
//
//	contender   predicts and learns: the configured machine with one seed, the same machine without noise, and the
//	            running base rate, or the first decision if the operator predicts nothing
//	stretch     one of Stretches equal parts of each stream
//	numbers     statistics of events that an operator publishes: they have no score, but are compared with the true
//	            numbers, which the same operator computes without noise
//	delay       time from an event until its label is known, and the contenders learn from the event
//
// The configured contenders run streams.Walk over streams.Stream, so decoding, null events, the separation of users,
// batches and noise are those of the service. Their noise comes from public, numbered seeds. Therefore their decisions
// are no private releases, and only figures leave the package. These figures, too, are functions of the events that no
// mechanism protects.
//
// Memory does not grow with the number of events, but only with the number of events that wait for their labels. AUC is
// computed from predictions sorted into bins (auc.go).
package eval
