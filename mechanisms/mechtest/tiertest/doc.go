// Package tiertest gives a test two forms: a short one for `go test ./...`, and a long one for TEST_LONG=1, which
// `.ci/long` sets. There are three tiers:
//
//	go test ./...   every claim, in its short form; the budget is 150 s on two quiet cores
//	.ci/run         the same, and tests that need a broker, the race detector or another build; the limit is an hour
//	.ci/long        every claim in its long form, fuzzing, soaks: hours
//
// A test must not skip a claim that only its long form checks, because the claim would then have no test in the first
// tier. Runs chooses between both forms; Slow takes the name of the test that is the short form. The lint refuses
// testing.Short and other ways to choose.
//
// The short form of a statistical test draws less often. It must derive its tolerance from the number of draws, so that
// a false alarm stays as improbable as in the long form. The short form of a matrix of cases must still have a case of
// each row and each column.
//
// A test process that imports tiertest collects garbage less often and, in the first tier, uses one processor (init).
// Package tiertest also has the factors for memory and repetitions under the race detector. It imports no other
// package of this module, so that every package's own tests can use it.
package tiertest
