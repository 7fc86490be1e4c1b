// Package interval makes confidence intervals of ratios, variances, quantiles and differences from released numbers
// whose noise is normal and known. All of it is post-processing: it costs no privacy.
//
//	n, S, Q  released count, sum of x and sum of x² − ½ of one cell, x in [−1, 1], divided by their public weights
//	s_n, …   standard deviations of their noise, which is independent between them      z  two-sided normal quantile
//
// Intervals account only for the noise of privacy, for one cell at one time. They are statements about the events that
// came, not about a population. The functions are pure, do not allocate, and give the same bits on every CPU.
//
// Sources: E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954), for ratios; inversion of
// tests for variances and quantiles (Casella and Berger, Statistical Inference, 2nd ed., Theorem 9.2.2), of smoothed
// running counts for the latter (Ranks: ours); D. J. Venzon and S. H. Moolgavkar, A method for computing
// profile-likelihood-based confidence intervals, Appl. Stat. 37 (1988), for variances of many events; G. Y. Zou and A.
// Donner, Construction of confidence limits about effect measures, Stat. Med. 27 (2008), for differences of means and
// shares.
//
//	mean := interval.Ratio(interval.Noisy{S, sS}, interval.Noisy{n, sN}, interval.Z95).Within(-1, 1)
package interval
