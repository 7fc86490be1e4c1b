// Package coco is window-private constrained online convex optimisation, WDP-COCO. It has Algorithm 1 (projection)
// and Algorithm 2 (llo, local linear oracle) of SPEC.md §5 and §6, over the private sum of a mechanisms.Stream. Noisy
// online gradient descent (ogd), its baseline of care point 3, runs over a stream that releases each step separately.
//
//	ℓ  an event's loss, convex      v  its gradient at the released decision, clipped to L     B  events a step
//	y_t  private Σ of the v of step t alone
//	ĝ_t  private Σ of all v up to step t      t  steps      µ  strong convexity, per event      λ_0  start regulariser
//	C  the set, diameter D, |x| ≤ M           E ≥ |ĝ_t − g_t|      ρ  ratio of the set's local oracle
//
// The losses of users are convex and not strongly convex, so each event counts as ℓ(x) + (µ/2)|x|². The regulariser is
// public: only ∇ℓ is clipped and summed privately (SPEC.md §5.1). With it the sums of past decisions cancel:
//
//	projection   x_{t+1} = Π_C( −ĝ_t / (µBt + λ_0) )
//	llo          c = ĝ_t + (µBt + λ_0)·x_t + µBC_0·(x_t − x_1);   x_{t+1} = (1−α)x_t + α·LLOO(x_t, r_t, c)
//	ogd          x_{t+1} = Π_C( x_t − (y_t + µB·x_t)/(µBt + λ_0) )
//
// With OwnConvexity the losses are µ-strongly convex by themselves and the algorithms run as printed, with S = Σ x_τ in
// the state:
//
//	projection   x_{t+1} = Π_C( (µB·S − ĝ_t) / (µBt + λ_0) )
//	llo          c as above, less µB·S
//	ogd          x_{t+1} = Π_C( x_t − y_t/(µBt + λ_0) )
//
// projection and llo take prefix sums, ogd takes the sums of single steps: New refuses a stream of the other kind. A
// stream of single steps uses each event once and is private for ever, with no window. The price is more noise. While
// no projection acts, ogd is the projection update on a sum of t noises, of norm √t·σ. The noise in a window's prefix
// sum stays polylogarithmic in W (PROOF.md, claim 4).
//
// A batch is one step whose loss is the sum of its B events at one x_t: strong convexity µB, gradient bound BG with G =
// L' + µD, and L' = L + µM (L under OwnConvexity). E bounds the error of the sum, so it does not scale with B. A null
// event adds zero to the sum and counts in B like any other event.
//
// With a Band a contribution has one or two columns after the gradient. They count events outside the band that was
// public before their step. They are a component of their own, with a share of the budget. The band follows the noisy
// count (package band; PROOF.md, claims 5 and 6). A stream that continues from an earlier stream's decision starts with
// the first band again.
//
// Guarantee: PROOF.md. Decisions are post-processing of the private sum, so they have its guarantee. Constants change
// only regret. A step costs one projection or one linear minimisation and O(n) other operations, and does not allocate.
// For each event the machine computes the weighted gradient and projects it to the tangent space; then the stream
// clips, quantises and sums it.
//
// The caller must pass a Config and a mechanisms.Config with the same clip, dimension and batch. For llo with proved
// constants, mechanisms.Config.Failure must be StepFailure, so that E holds at all steps up to T at once. At every
// later start the caller must pass the Params with which the stream was opened. After T steps the run continues with
// the same privacy, and only the probability of the regret bound is no longer claimed.
package coco
