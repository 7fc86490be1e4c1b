// Package optest is what every operators.Machine must pass, whatever it learns: the contract of the interface,
// metamorphic runs in which one log of events is played in different ways and must give the same bytes, and runs over
// given sums, in which different events must give the same bytes. Pairs of neighbouring runs are recorded and replayed
// by package neighbours.
//
//	Run(t, func(tb testing.TB, open optest.Open) operators.Machine { … New(config, open(mechanism)) … }, events)
//
// Machines that read record keys are run by RunKeyed, those that also hold what events say by RunHolding. Draws are
// played again as they fell: over the same sums and draws, other events must give the same bytes too.
//
// The batch should be more than one, so that restarts fall inside batches and a shifted noise would show. Run adds null
// records, records that no machine can use, and identities of its own.
package optest
