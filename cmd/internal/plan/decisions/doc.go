// Package decisions computes the effect of noise on decisions: how far noise moves them, how long it hides what a model
// has learned, and which public settings soften it. Everything follows from the noise and the decision set alone, not
// from data.
package decisions
