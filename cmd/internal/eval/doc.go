// Package eval scores settings on a user's events. It scores each event with the newest decision that was public before
// it, and only then learns from the event, as the service would. It is the part of `oriel eval` that knows no file,
// topic or flag.
//
//	contender   what predicts and learns: the configured machine with one seed, the same without noise, and the
//	            running base rate, or the first decision where nothing is predicted
//	stretch     one of Stretches equal parts of each stream
//	numbers     of an operator that publishes statistics of its events: nothing to score, but compared with the truth, which is
//	            the same operator over sums without noise
//	delay       how long after an event its label is known, and the event learned from
//
// The configured contenders run streams.Walk over streams.Stream, so decoding, null events, the separation of users,
// batches and noise are those of the service. Their noise comes from public, numbered seeds. Their decisions are
// therefore no private releases, and only figures leave the package. These figures, too, are functions of the events
// that no mechanism protects.
//
// Memory does not grow with the number of events, but only with the events that wait for their labels. AUC is computed
// from predictions sorted into bins (auc.go).
package eval
