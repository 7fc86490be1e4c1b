// Package attack plays streams with and without a canary, and guesses which of the two a run had. mechanisms/audit
// turns the number of right guesses into a lower bound on the privacy loss. If contributions depend on earlier
// releases, an attack in the middle of a stream follows the contributions. This is possible only for a single event and
// Gaussian noise of one scale.
package attack
