// Package ridge is least squares from private second moments. It computes weights θ by which ⟨x, θ⟩ predicts a label.
// They are solved anew once in a public number of steps, from sums of (x; s·y)(x; s·y)ᵀ (operators/moments), over any
// stream of prefix or decaying sums.
//
//	z = x/X  features, scaled to norm at most 1      y  the label's range mapped to [−1, 1]      N_t  events, or their weight in a memory
//	V, u  released Σ zzᵀ, Σ z·y      κ = f·2√d·sd  the shift, f times the edge of the noise's spectrum      λ = λ_0 + µN_t
//
//	moments      θ = (V + κI + λI)⁻¹·u
//	innovation   θ = (α·(V + κI)/N_t + λI)⁻¹·ŵ,      ŵ = released Σ z·r,      r = clip(label − prediction, ±C)
//
// moments is ridge regression. innovation sums residuals, each against the newest published decision. Its noise is
// proportional to the clip C of a residual and not to the label's range. Errors of V change how fast it learns, but not
// the weights to which it converges. With α = 0 it is the first-order update of coco on clipped residuals, and it does
// not use the released Gram matrix V.
//
// Second order is better on a stationary stream, and first order on a drifting one: SPEC.md has figures.
//
// Instead of shifting all eigenvalues by κ, the machine can raise eigenvalues below κ to κ, which leaves large
// eigenvalues unchanged.
//
// Guarantee: PROOF.md. Decisions are post-processing of the released sums. Cost of a record: d²/2 products; of a
// decision: about d³/3 for weights and their deviations. Neither allocates.
//
// The caller must put the contribution of Require into the mechanism's configuration, and must pass the params from the
// stream's opening.
package ridge
