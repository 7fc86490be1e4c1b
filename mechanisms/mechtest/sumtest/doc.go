// Package sumtest has the tests that every private sum must pass, whatever its noise structure. An integer that the
// sampler draws must reach the release unchanged, even far in the tail. Clamped noise has an atom at the clamp, which
// moves with the data. So its loss is far above the claim, although the moments of the noise do not show it. The
// package also has common code of the sums' exact tests: enumerated laws, and users whose participation depends on
// releases. It imports no sum, so that every sum's own tests can use it.
//
//	sumtest.DrawsReachTheRelease(t, reach, scale, n, func(sampler noise.Sampler) sumtest.Sum { … })
package sumtest
