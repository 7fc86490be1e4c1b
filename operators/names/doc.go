// Package names counts names that nobody listed before, in steps by the clock: search words, error messages, merchants.
// A decision has each name whose count with noise reaches a threshold; the name of a single event or person reaches it
// with a probability of at most q.
//
//	c  true count of a name in the step      y  count with noise      τ  threshold      m  names of a person in a period
//
// Every event counts, or with users in periods each person once for a name in a period, for the first m different
// names. The list has the names with the largest y, ties by their bytes, and at most ORIEL_NAMES_MAX of them. Intervals
// are those of the law of the noise given that the name is in the list. PROOF.md argues both.
package names
