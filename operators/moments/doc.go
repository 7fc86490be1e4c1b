// Package moments makes private second moments: integer contributions whose sums are Σ aaᵀ, a = (x; s·y), and solvers
// for the released sums.
//
//	x  features, |x| ≤ 1, d of them      y  a label in [−1, 1]      s  Label/1024, the label's share, in (0, 1]
//	D  d + 1      r  units of an x of length 1      S  s·r, units of a label of 1      σ  noise of a number off the diagonal
//
// A contribution is the upper triangle of aaᵀ, row by row, with entries x_i·x_j, s·x_i·y and s²y². Noise on its
// diagonal is √2 times the noise of the rest. So exchanging a row moves a release by at most (1+s²)/σ. At s = 1, second
// moments add no cost to Σ x·y (PROOF.md, Theorem 1). With Blocks the rows of K arms are in K separate blocks at the
// same cost. Entries between blocks are publicly zero, and are neither released nor noised.
//
//	Rows       the contribution.Quantiser
//	Symmetric  names the numbers of a released triangle
//	Cholesky   factor and solutions, the same bits on every CPU
//	Edge       the edge of the noise's spectrum, by which a released matrix is shifted until it is positive definite
//	System     a released matrix, shifted; the shift doubles until it suffices
//	Spectrum   a released matrix, its eigenvalues raised to a floor instead
//
// All types except Rows are post-processing of releases. Cost: a contribution is D²/2 products; a factor d³/6, a
// solution d², a spectrum about 25d³. None allocates.
//
//	rows := moments.Rows{Features: 27, Label: 1024}
//	record := contribution.Contribution{Components: []contribution.Component{rows.Component()}}
package moments
