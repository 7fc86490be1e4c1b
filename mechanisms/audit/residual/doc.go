// Package residual rebuilds the noise of a stream from its releases and from contributions that the auditor knows. It
// tests whether this is the calibration's noise: every draw, in law, tails and independence. Package audit bounds the
// loss that one canary shows; this package detects any deviation from the calibration's noise, whichever event the
// deviation exposes.
//
//	y_t  release     G_t  the release without noise: prefix sum, or the step's own     n  coordinates     T  releases
//	σ, θ  noise scale of a node or a step     z  rebuilt noise, standardised     W  window, steps
//
// Rebuilding (package definition computes which noise a release contains, without code of the mechanisms):
//
//	once     z = (y_t − G_t)/σ
//	blt      y − G = b∗n, and b∗ has an inverse: z = β∗(y − G)/σ, but for the lattice's rounding
//	         with a memory the same for e and y_t − γy_{t−1}, from reset to reset
//	tree     in the first block release p contains one node that no earlier release contains: differences are single nodes.
//	         Later there are two new nodes a step, and no release separates them: z is the innovation, what release t
//	         adds to its best forecast from the releases before (Kalman 1960), over its standard deviation
//	discrete Laplace
//	         draws of any step, also one coarser than their scale: mapped to exact normals with a uniform number besides
//	Laplace, Gamma
//	         single nodes only, mapped to normals by their distribution functions (Rosenblatt 1952): of a Gamma vector
//	         its norm, with the sign of the first entry, and each entry over the length of the entries before it
//
// If the calibration's noise is true, all z are independent standard normals given all contributions, even
// contributions that adapt to releases. No test needs another assumption. Innovations of pure noise are uncorrelated
// and not normal; they are compared, run by run, with innovations of a reference model drawn by the definition.
//
// Tests. Every p-value is an upper bound of the true probability at any number of draws. It comes from exact normal
// tails, from Chernoff's bound (1952) of a binomial count or a chi-square sum, or from Markov's inequality, times the
// number of places that a test looks at. A test fails when its p-value is below a share of α fixed in advance, so false
// alarms of all tests together have probability α at most.
//
//	mean, scale    sums and sums of squares, by step and by coordinate
//	law, tails     counts in 32 cells of a quarter; counts beyond 3.5 … 7, too few or too many
//	leaves         z along known contributions, and along each coordinate by itself
//	steps, coordinates, runs
//	               do signs, and sizes above the median, of two draws agree more or less than half the time
//	repeats        pairs of neighbouring draws that occur again elsewhere
//	later blocks   innovations of pure noise, compared with the innovations of a reference model
//
// Limits. The tests cannot show tails beyond the reach of the number of draws (Reach). They cannot show a dependence
// between distant draws, or between coordinates beyond 1024, if the signs and sizes of the compared pairs remain fair
// coins. They show nothing if the scale is below 2¹² lattice units (New refuses). Repeats of draws of coarse steps show
// in signs and sizes alone.
//
// References: Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis" (1952); Kalman, "A new approach
// to linear filtering and prediction problems" (1960); Rosenblatt, "Remarks on a multivariate transformation" (1952).
//
//	noise, err := residual.New(config, calibration, steps)
//	battery, observer := residual.NewBattery(noise), noise.Observe()
//	observer.Start(run)
//	observer.Release(stream.Sum(0), contributions) // after every step
//	battery.Add(observer.Result())                                 // after every run, in order
//	tests := battery.Tests()
package residual
