// Package experiment compares the effects of an A/B test, as an operator publishes them, with the true effects, with the
// effects that the same operator shows over sums without noise, and with an analyst who peeks at ordinary intervals.
package experiment
