// Package experiment reads an A/B test from a private release, at any time: effects with confidence sequences that hold
// at all looks together, e-values, lift and means of arms. All of it is post-processing of released sums: it costs no
// privacy.
//
//	arm      0 is the control; an event is in arm k with public probability π_k, whatever happened before
//	y        outcome, clamped to a public range, in units of it: [0, 1]      m  a public guess of its mean
//	τ_i      what arm k adds to the outcome of event i in place of the control; it may drift
//	look     a step: B events, counts and sums by arm, with noise of a known law (Noise)
//	t        events since the start      v  variance of ζ, an event's part of a contrast
//
// The contrast of an event is ζ = 1{A=k}(y − m)/π_k − 1{A=0}(y − m)/π_0, of mean τ_i. The release of its total up to
// look l is Z_l = Σζ + N_l, with noise N_l. With G = v·min(t_l, t_j) + Cov(N_l, N_j), C its Cholesky factor, e = C⁻¹Z
// and g = C⁻¹t,
//
//	A_l = Σ_{j≤l} g_j²,   B_l = Σ_{j≤l} g_j·e_j,   τ̂_l = B_l/A_l
//	|τ̂_l − Σ_j ω_{l,j}·τ_j| ≤ √((A_l + r)·(ln((A_l + r)/r) + 2 ln(1/α)))/A_l   for all l at once, in 1 − α of runs
//	e_l = √(r/(A_l + r))·exp(B_l²/(2(A_l + r)))      of "no effect ever"
//	e_l⁺ = 2Φ(B_l/√(A_l + r))·e_l                    of "the effect is never positive"
//
// One α covers both the sampling error and the noise of privacy. A Kalman filter computes e and g (bank). v is
// estimated from the release, and a look uses the filter of the next larger v on a public grid. PROOF.md has the
// statements and what is asymptotic.
//
// A stream may have several experiments one after the other: Restart begins the next one. Its start may have been
// chosen by looking at releases until an announcement. What the releases may have said of the noise is then an unknown
// constant, and A and e_l have further terms for it (choice).
//
// Sources: H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Stat. 41 (1970),
// for normal mixtures; S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, nonparametric, nonasymptotic
// confidence sequences, Ann. Stat. 49 (2021).
//
// The caller must send one event for each randomised unit, state the probabilities with which arms are really drawn,
// and choose settings without looking at private data. A look does not allocate, and gives the same bits on every CPU.
package experiment
