// Package names publishes the names that events carry, with their counts in a step, if they are common enough. No list
// of names is known before. Each name gets noise of its own, and is published if its count with noise reaches a
// threshold; the name of a single person reaches it with probability q only. PROOF.md states the guarantee.
//
//	c  count of a name in a step      n  its noise, at most M      y = c + n      τ  threshold, M + 1      q = P(n = M)
//
// A Sum counts an event in amortised constant time, and closes a step of N names in O(N log N).
package names
