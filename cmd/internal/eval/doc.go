// Package eval scores settings on events that its user has: each event with the newest decision that was public before
// it, and only then learned from, as the service would learn from it. It is the part of `oriel eval` that knows no
// file, topic or flag.
//
//	contender   what predicts and learns: the configured machine with one seed, the same without noise, and the
//	            running base rate, or the first decision where nothing is predicted
//	stretch     one of Stretches equal parts of each stream
//	numbers     of an operator that publishes statistics of its events: nothing to score, but held beside the truth, which is
//	            the same operator over sums without noise
//	delay       how long after an event its label is known, and the event learned from
//
// The configured contenders are streams.Walk over streams.Stream: decoding, null events, the separation of users,
// batches and noise are those of the service. Their noise comes from numbered seeds that everybody knows: their
// decisions are no releases, and nothing of them leaves the package but figures. These figures, too, are functions of
// the events that no mechanism protects.
//
// Memory does not grow with the number of events, only with the events that wait for their labels; AUC is of
// predictions sorted into bins (auc.go).
package eval
