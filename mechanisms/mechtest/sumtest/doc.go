// Package sumtest is what every private sum must pass, whatever shares its noise: an integer that the sampler draws
// reaches the release whole, however far in the tail it lies. Noise that is clamped on its way out has an atom that
// moves with the data, and loses far more than is claimed, though no moment of it shows that. The package also has what
// the sums' exact tests share: enumerated laws, and users who come in view of releases. It imports no sum, so that
// every sum's own tests can use it.
//
//	sumtest.DrawsReachTheRelease(t, reach, scale, n, func(sampler noise.Sampler) sumtest.Sum { … })
package sumtest
