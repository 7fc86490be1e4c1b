// Package trial runs the experiments of a stream on the sums of an aggregate's arms: their settings, their turns, what
// they cost, and the members of decisions that state their findings.
//
// A trial only reads releases, so that it costs no privacy; operators/experiment has its statistics. The package knows
// where the sums of a release have the outcomes of each arm (Arms), and nothing else of a specification.
package trial
