// Package race scores settings on a user's events: it scores each event with the newest decision that was public before
// the event, and only then learns from the event, as the service would.
//
//	predictor  predicts and learns: the configured machine with the noise of a seed, the same machine without noise, and
//	           the running base rate, or the first decision if the operator predicts nothing
//	stretch    one of Stretches equal parts of each stream
//	delay      time from an event until its label is known, and the predictors learn from the event
//
// Memory does not grow with the number of events, but only with the number of events that wait for their labels. AUC is
// computed from predictions sorted into bins (auc.go).
package race
