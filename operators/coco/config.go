package coco

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// The updates, and the constants of llo.
const (
	Projection = "projection" // Algorithm 1, WDP-COCOP
	LLO        = "llo"        // Algorithm 2, WDP-COCOL
	// online gradient descent on noisy gradients, SPEC.md, care point 3; needs a mechanism of single steps
	OGD = "ogd"

	Proved = "proved" // C_1 = 10(ρ²G + ρE), SPEC.md §11
	Paper  = "paper"  // those of Config.Printed; not proved
	// no constants: each step goes as far towards the linear minimiser as lowers Ĵ_t most, SPEC.md §6.1; no bound
	Search = "search"

	Spread = "spread" // x_1 is the set's, of least norm but for flows and trees
	Vertex = "vertex" // x_1 is a vertex, as SPEC.md §6 has it: after t searched steps x has at most t + 1 of them
)

// Config decides every byte of a machine, together with the stream's. Privacy is the stream's own.
type Config struct {
	Update    string     // Projection, LLO or OGD. Required.
	Constants string     // Proved, Search, or with Printed Paper. Required for LLO, not read otherwise.
	First     string     // Spread, or of Search alone Vertex. Empty means Spread.
	Loss      loss.Loss  // Required.
	Set       convex.Set // Required; LLO needs a polytope.

	Clip             float64 // L, L2 bound on one event's gradient, loss units, that of the stream. Required, > 0.
	StrongConvexity  float64 // µ, per event, in [1e-12, 1e12]. Required.
	StartRegularizer float64 // λ_0, of the whole run, in [0, 1e12]. 0 means none.
	OwnConvexity     bool    // the losses are µ-strongly convex by themselves: no regulariser is added

	// Public bounds of events, in [0, 1e12]; 0 means unknown. They give a bound on contributions that is sharper than the
	// clip. An event beyond them costs no privacy, because its contribution is clipped to that bound.
	FeaturesMax float64 // X, the largest norm of features
	WeightMax   float64 // largest weight; unknown: 1, or for losses but squared Clip/FeaturesMax if that is larger
	LabelMax    float64 // Y, the largest |y|, of the squared loss

	Band Band // around predictions; zero: none

	Rounds    uint64  // T, steps for which the noise bound E is asked. Required for LLO with Proved constants.
	Failure   float64 // β, probability that some step up to T breaks the bound, in (0, 1). Required for LLO.
	EmitEvery uint64  // k ≥ 1: the decision of step t is emitted if t mod k = 0. Required; 1 emits all.

	Printed Printed // constants of a paper, to be compared with; nil in every service
}

// Printed are constants as a paper prints them.
type Printed interface {
	// NoiseTerm returns C_W of llo under a mechanism, which the plan of a stream keeps.
	NoiseTerm(c Config, m mechanisms.Config) (float64, error)
	// Reach returns C_1 of llo for ρ, G, B and C_W.
	Reach(ratio, gradient, batch, noise float64) float64
	// Scale is mechanisms.Config.Printed of the names with the suffix -paper.
	Scale(c Config, m mechanisms.Config) func(levels int) *big.Float
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
	errs = append(errs, c.validateBand()...)
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
	if c.Constants != Proved && c.Constants != Search && (c.Constants != Paper || c.Printed == nil) {
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

// remembers reports whether the update learns from sums that decay: projection, and the searched step. What is proved
// of llo's constants is of sums that do not.
func (c Config) remembers() bool {
	return c.Update == Projection || c.searches()
}

// searches reports whether the update takes searched steps.
func (c Config) searches() bool { return c.Update == LLO && c.Constants == Search }

// GradientBound is G = L' + µD, a bound on the gradient of one event's model; L' = L + µ·max|x| counts the public
// regulariser. It is not the sensitivity of what the stream sums: that is 2L at most.
func (c Config) GradientBound() float64 {
	clip := c.Clip
	if !c.OwnConvexity {
		clip += float64(c.StrongConvexity * c.Set.MaxNorm())
	}
	return clip + float64(c.StrongConvexity*c.Set.Diameter())
}

// StepFailure is the probability β/T with which one step may break the noise bound, for mechanisms.Config.Failure; 0
// where no bound is needed.
func (c Config) StepFailure() float64 {
	if c.Update != LLO || c.Constants != Proved {
		return 0
	}
	return c.Failure / float64(c.Rounds)
}
