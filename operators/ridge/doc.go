// Package ridge is least squares from private second moments: weights θ by which ⟨x, θ⟩ predicts a label, solved anew
// at a public period from sums of (x; s·y)(x; s·y)ᵀ (operators/moments) over any stream of prefix or decaying sums.
//
//	z = x/X  features, drawn to norm 1      y  the label's range brought to [−1, 1]      N_t  events, or their weight in a memory
//	V, u  released Σ zzᵀ, Σ z·y      κ = f·2√d·sd  the shift, f times the edge of the noise's spectrum      λ = λ_0 + µN_t
//
//	moments      θ = (V + κI + λI)⁻¹·u
//	innovation   θ = (α·(V + κI)/N_t + λI)⁻¹·ŵ,      ŵ = released Σ z·r,      r = clip(label − prediction, ±C)
//
// moments is ridge regression. innovation sums what the decision before has left unexplained: its noise is that of the
// residual's clip C in the place of the label's range, and errors of V change how fast it learns and not where it ends.
// With α = 0 it is the first-order update of coco on clipped residuals, its released Gram matrix unused.
//
// Where a stream stands still second order wins, where it drifts first order does: SPEC.md has figures.
//
// Eigenvalues may be raised to κ in place of the shift, which keeps what the large ones say.
//
// Guarantee: PROOF.md. Decisions are post-processing of the released sums. Cost of a record: d²/2 products; of a
// decision: some d³/3 for weights and their deviations. Neither allocates.
//
// What the caller owes: the contribution of Require in the mechanism's configuration, and the params of the stream's
// opening.
package ridge
