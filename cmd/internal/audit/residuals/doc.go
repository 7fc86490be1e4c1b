// Package residuals plays runs with known contributions for mechanisms/audit/residual, which tests whether the rest of
// each release is the calibration's noise. Half of the runs are restarted at random places. With decaying sums, further
// runs of the private sum alone start two steps before a reset. Far tails are counted at a large dimension, where draws
// are cheap.
package residuals
