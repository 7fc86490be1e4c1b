package coco

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators"
	"oriel/operators/coco/band"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// These are the updates, and the constants of llo.
const (
	Projection = "projection" // Algorithm 1 of SPEC.md, WDP-COCOP
	LLO        = "llo"        // Algorithm 2 of SPEC.md, WDP-COCOL
	// OGD is online gradient descent on noisy gradients, SPEC.md, care point 3. It needs a mechanism that releases each
	// step separately.
	OGD = "ogd"

	Proved = "proved" // the constants with a proof: C_1 = 10(ρ²G + ρE), SPEC.md §11
	// Search uses no constants: each step moves towards the linear minimiser as far as this lowers Ĵ_t, SPEC.md §6.1.
	// No regret bound is proved.
	Search = "search"

	Spread = "spread" // x_1 is the set's start, the point of least norm except on flows and trees
	Vertex = "vertex" // x_1 is a vertex, as in SPEC.md §6: after t searched steps, x is a mix of at most t + 1 vertices
)

// Config holds the settings of a machine. Together with the stream's configuration it determines every byte of
// decisions. Privacy depends only on the stream.
type Config struct {
	Update    string     // Projection, LLO or OGD. Required.
	Constants string     // Proved or Search. Required for LLO, not read otherwise.
	First     string     // Spread or, only with Search, Vertex. Empty means Spread.
	Loss      loss.Loss  // Required.
	Set       convex.Set // Required. LLO needs a polytope.

	Clip             float64 // L, the L2 bound on one event's gradient, loss units, as in the stream. Required, > 0.
	StrongConvexity  float64 // µ, per event, in [1e-12, 1e12]. Required.
	StartRegularizer float64 // λ_0, which is added once and not in each step, in [0, 1e12]. 0 means none.
	OwnConvexity     bool    // the losses are µ-strongly convex themselves, so no regulariser is added

	// FeaturesMax, WeightMax and LabelMax are public bounds on events, in [0, 1e12]; 0 means unknown. They give a bound
	// on contributions that is sharper than the clip. An event beyond the bounds costs no more privacy, because its
	// contribution is clipped to that bound.
	FeaturesMax float64 // X, the largest norm of features
	WeightMax   float64 // largest weight; 0: 1 or, except for squared, the larger Clip/FeaturesMax
	LabelMax    float64 // Y, the largest |y|, read only for the squared loss

	Band band.Settings // the band around predictions; zero: none

	Rounds    uint64  // T, the number of steps that the noise bound E covers. Required for LLO with Proved constants.
	Failure   float64 // β, the probability that a step up to T breaks the noise bound, in (0, 1). Required for LLO.
	EmitEvery uint64  // k ≥ 1: every k-th step has a decision. Required.

	StartPoint *operators.Decision // published decision where a stream with a memory starts; nil: none
}

const minConvexity, maxConvexity = 1e-12, 1e12

// Validate reports every problem at once, each with its field and value.
func (c Config) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("coco: "+format, args...)) }
	if c.Update != Projection && c.Update != LLO && c.Update != OGD {
		fail("update %q: not one of projection, llo, ogd", c.Update)
	}
	if c.Loss == nil {
		fail("loss: missing")
	}
	if c.Set == nil {
		fail("set: missing")
	}
	if !(c.Clip > 0 && c.Clip <= maxConvexity) {
		fail("clip %g: not in (0, %g]", c.Clip, maxConvexity)
	}
	if !(c.StrongConvexity >= minConvexity && c.StrongConvexity <= maxConvexity) {
		fail("strong convexity %g: not in [%g, %g]", c.StrongConvexity, minConvexity, maxConvexity)
	}
	if !(c.StartRegularizer >= 0 && c.StartRegularizer <= maxConvexity) {
		fail("start regularizer %g: not in [0, %g]", c.StartRegularizer, maxConvexity)
	}
	for i, bound := range []float64{c.FeaturesMax, c.WeightMax, c.LabelMax} {
		if !(bound >= 0 && bound <= maxConvexity) {
			fail("%s max %g: not in [0, %g]", []string{"features", "weight", "label"}[i], bound, maxConvexity)
		}
	}
	if c.EmitEvery == 0 {
		fail("emit every 0: less than 1")
	}
	if c.First != "" && c.First != Spread && (c.First != Vertex || c.Update != LLO || c.Constants != Search) {
		fail("first %q: not spread, nor vertex of llo with constants search", c.First)
	}
	errs = append(errs, c.Band.Validate(c.Loss, c.FeaturesMax)...)
	if c.Band.Level > 0 && !c.remembers() {
		fail("band: update %s: only projection, and llo with constants search, have one", c.Update)
	}
	switch {
	case c.Update == LLO:
		errs = append(errs, c.validateLocal()...)
	case c.Set != nil:
		if _, err := convex.NewProjection(c.Set); err != nil {
			fail("update %s: %w", c.Update, err)
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateLocal() []error {
	var errs []error
	if c.Set != nil {
		oracle, err := convex.NewLocalOracle(c.Set)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("coco: update llo: %w", err))
		case c.Constants != Search && math.IsInf(oracle.Ratio(), 1):
			errs = append(errs, fmt.Errorf("coco: constants %s: set %s has no ρ that is known, so only search moves", c.Constants,
				c.Set.Name()))
		}
	}
	if c.Constants != Proved && c.Constants != Search {
		errs = append(errs, fmt.Errorf("coco: constants %q: not one of proved, search", c.Constants))
	}
	if c.Constants == Proved && c.Rounds == 0 {
		errs = append(errs, errors.New("coco: rounds 0: llo with proved constants needs the number of steps"))
	}
	if !(c.Failure > 0 && c.Failure < 1) {
		errs = append(errs, fmt.Errorf("coco: failure %g: not in (0, 1)", c.Failure))
	}
	return errs
}

// remembers reports whether the update can learn from sums that decay, and have a band. Projection and searched steps
// can. The proofs about llo's constants hold only for sums that do not decay.
func (c Config) remembers() bool {
	return c.Update == Projection || c.searches()
}

// marks returns the number of columns of a contribution that belong to the band.
func (c Config) marks() int { return c.Band.Marks(c.Loss) }

// rule returns the constants of the band.
func (c Config) rule() band.Rule { return band.NewRule(c.Band, c.Loss, c.reach()) }

// reach returns R·X, the largest |⟨a, x⟩|.
func (c Config) reach() float64 { return float64(c.Set.MaxNorm() * c.FeaturesMax) }

// searches reports whether the update takes searched steps.
func (c Config) searches() bool { return c.Update == LLO && c.Constants == Search }

// GradientBound returns G = L' + µD, a bound on the gradient of the regularised loss of one event, with L' = L +
// µ·max|x| (L under OwnConvexity). It is not the sensitivity of the stream's sums, which is at most 2L.
func (c Config) GradientBound() float64 {
	clip := c.Clip
	if !c.OwnConvexity {
		clip += float64(c.StrongConvexity * c.Set.MaxNorm())
	}
	return clip + float64(c.StrongConvexity*c.Set.Diameter())
}

// StepFailure returns β/T, the probability with which one step may break the noise bound, for
// mechanisms.Config.Failure. It is 0 if the update needs no bound.
func (c Config) StepFailure() float64 {
	if c.Update != LLO || c.Constants != Proved {
		return 0
	}
	return c.Failure / float64(c.Rounds)
}
