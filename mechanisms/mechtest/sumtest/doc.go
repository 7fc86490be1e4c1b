// Package sumtest has the tests that every private sum must pass, whatever the form of its noise. An integer that the
// sampler draws must reach the release unchanged, however far in the tail it lies. Noise that is clamped on its way has
// an atom that moves with the data. Its loss is far above the claim, though no moment of the noise shows that. The
// package also has the common parts of the sums' exact tests: enumerated laws, and users who take part depending on
// releases. It imports no sum, so that every sum's own tests can use it.
//
//	sumtest.DrawsReachTheRelease(t, reach, scale, n, func(sampler noise.Sampler) sumtest.Sum { … })
package sumtest
