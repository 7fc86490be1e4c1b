// Package optest is the conformance suite that every operators.Machine must pass. It checks the contract of the
// interface. It plays one log of events in different ways, which must give the same bytes (metamorphic tests). It also
// runs machines over scripted sums, where different events must give the same bytes. Package neighbours records and
// replays pairs of neighbouring runs.
//
//	Run(t, func(tb testing.TB, open optest.Open) operators.Machine { … New(config, open(mechanism)) … }, events)
//
// RunKeyed runs machines that read record keys, and RunHolding those that also hold contents of events. A replay
// repeats the recorded results of draws: over the same sums and draws, different events must also give the same bytes.
//
// The batch should be more than one, so that restarts occur inside batches and shifted noise is detected. Run adds null
// records, records that no machine can use, and its own identities.
package optest
