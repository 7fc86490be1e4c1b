package decisions

import (
	"fmt"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/setting"
)

// Advice holds public settings that follow from the noise and the decision set alone, not from data.
// For the projection update it assumes features of norm at most 1. The noise ν of a release then moves a prediction by
// ⟨ν, a⟩/(µBt + λ₀), of standard deviation σ/λ₀ at first, whatever the dimension.
//
//	λ₀ = σ·max(m, √d/R)    m = 2 for log-odds and classes: σ/λ₀ ≤ ½; 10/R for quantiles and 10/min(R, L) for means: a tenth of what can be
//	                       predicted, or of the longest residual; and ‖ν‖ ≤ R on average, else projection shrinks what is learned, too
//	H  = 65 536            fixed: how long ago is worth learning from is a fact of the data; the noise grows with log H only
//	µ  = λ₀·10⁻⁶/B         the regulariser doubles in a million steps: strong convexity costs less than it brings as long as λ₀ does not
//
// For noise of standard deviation s in its log-odds, the logistic loss pays at most s²/8 (its curvature is ¼): 0.03 at
// λ₀. For the start regulariser it pays at most λ₀R²/2 over the whole stream. A release with H = 65 536 has 1.46 times
// the noise of one with 1 024 and 0.83 times that of one with 2²⁰ (the roots of the optima in
// mechanisms/decay/PROOF.md). So a wrong H costs little noise either way. TestAdviceHelpsOnEveryStream supports the
// factor 2.
//
// Losses that predict nothing, such as costs or portfolios, have no scale of predictions. For them only the noise of
// decisions is known. λ₀ = 10·√d·σ/D, with D the diameter of the set, makes noise alone move a decision by a tenth of
// the set, on average and at first. TestAdviceOfCosts supports it. A searched step, whose decisions stay mixes of
// vertices, needs a tenth of that: λ₀ = √n·σ/D, with n the directions in which decisions can move
// (operators/coco/SPEC.md §6.1). For costs in a public range the clip is a quarter of the norm of evenly spread costs,
// and λ₀ is for this clip (§4.4). TestAdviceOfSearchedFlows supports these.
type Advice struct {
	StartRegularizer digits.Number `json:"start_regularizer"` // λ₀: start regulariser
	StrongConvexity  digits.Number `json:"strong_convexity"`  // µ: strong convexity; null if the loss predicts nothing
	Clip             digits.Number `json:"clip"`              // null except for classes, and for costs in a known range
	// value of the constant feature before scaling to norm 1, for other features of at most 1; null if the loss
	// predicts nothing
	Constant digits.Number `json:"constant_feature"`
	Memory   uint64        `json:"memory_steps"` // H, for a guarantee that never ends
}

// Shares of noise and lengths from which the advice is computed.
const (
	logOddsNoise = 2   // λ₀/σ for log-odds
	rangeNoise   = 10  // λ₀R/σ for other predictions
	doubles      = 1e6 // number of steps after which µ has doubled the regulariser
	// ConstantName is the name of the advised constant feature.
	ConstantName = "constant"
	// Constant is the advised value of a constant feature, which needs no range. The log-odds of 5 % are −3. With this
	// constant, they need a weight of 3/0.9. With a constant of 1 among many features, the weight would be outside a
	// ball of radius 5.
	Constant    = 3
	usualMemory = 1 << 16
	usualClip   = 1 // a logistic gradient is shorter than its features

	// clip as a share of the usual norm of costs: costs that are spread over a quarter of the range are not clipped
	costsClip = 0.25
)

// Advise returns advice for a mechanism and an operator, and for costs in a range if costs is not nil. It returns false
// if the effect of a release on decisions is unknown.
func Advise(c mechanisms.Config, o operators.Operator, costs *setting.Range) (Advice, bool, error) {
	m, err := opened.New(c)
	if err != nil {
		return Advice{}, false, err
	}
	a, ok := AdviceOf(m, o, costs)
	return a, ok, nil
}

// AdviceOf is Advise for an opened mechanism.
func AdviceOf(m *opened.Mechanism, o operators.Operator, costs *setting.Range) (Advice, bool) {
	d, score := o.Describe(m.Config), operators.ScoreOf(o)
	if d.Damping == nil && !d.Searched || score == nil || m.PerStep() {
		return Advice{}, false
	}
	factor := 0.0
	switch score.Predicts {
	case operators.LogOdds, operators.Side:
		factor = logOddsNoise
	case operators.Mean:
		factor = rangeNoise / min(d.Radius, m.Config.Clip())
	case operators.Quantile:
		factor = rangeNoise / d.Radius
	case operators.Nothing, operators.Growth:
		return adviceOfCosts(m, d, operators.CostsOf(o), costs)
	}
	if d.Searched || !(d.Radius > 0) {
		return Advice{}, false
	}
	point := m.Decides()
	start := digits.RoundTwo(point.RMSCoordinate * max(factor, math.Sqrt(float64(point.Size))/d.Radius))
	clip := digits.None
	if score.Predicts == operators.LogOdds || score.Predicts == operators.Side {
		clip = usualClip
	}
	return Advice{
		StartRegularizer: digits.Number(start),
		StrongConvexity:  digits.Number(digits.RoundTwo(start / doubles / float64(m.Config.Batch))),
		Clip:             clip, Constant: Constant, Memory: usualMemory,
	}, true
}

// dampedBy is the distance by which noise alone moves a decision at first, on average, as a share of the set's
// diameter.
const dampedBy = 0.1

// adviceOfCosts returns advice for a loss whose events are costs. costs is nil for any other loss; in is the range of
// the costs, nil if unknown.
func adviceOfCosts(
	m *opened.Mechanism, d description.Figures, costs *description.Costs, in *setting.Range,
) (Advice, bool) {
	if !(d.Diameter > 0) {
		return Advice{}, false
	}
	_, worst := m.RMS()
	a := Advice{StrongConvexity: digits.None, Clip: digits.None, Constant: digits.None, Memory: usualMemory}
	if costs != nil && in != nil {
		a.Clip = digits.Number(digits.RoundTwo(costsClip * costs.Usual(*in)))
		worst *= float64(a.Clip) / m.Config.Clip()
	}
	directions, share := m.Config.Dimension(), dampedBy
	if d.Searched {
		share = 1
		if costs != nil {
			directions = costs.Directions
		}
	}
	start := digits.RoundTwo(worst * math.Sqrt(float64(directions)) / (share * d.Diameter))
	a.StartRegularizer = digits.Number(start)
	if d.Searched {
		a.StrongConvexity = digits.Number(digits.RoundTwo(start / doubles / float64(m.Config.Batch)))
	}
	return a, true
}

// String returns the advice as readable text.
func (a *Advice) String() string {
	var b strings.Builder
	say := func(setting, why string) { fmt.Fprintf(&b, "  %-40s %s\n", setting, why) }
	say(fmt.Sprintf("ORIEL_START_REGULARIZER=%.3g", float64(a.StartRegularizer)),
		"λ₀, damps the noise of decisions, of the first ones most")
	if a.StrongConvexity.Known() {
		say(fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%.3g", float64(a.StrongConvexity)), "µ, doubles that in a million steps")
	}
	switch {
	case a.Clip.Known() && !a.Constant.Known():
		say(fmt.Sprintf("ORIEL_CLIP=%g", float64(a.Clip)), "a quarter of the usual norm: noise is least beside the events' contributions; λ₀ is for it")
	case a.Clip.Known():
		say(fmt.Sprintf("ORIEL_CLIP=%g", float64(a.Clip)), "with features of norm 1 (named ones are; scale dense ones by their own norm)")
	}
	if a.Constant.Known() {
		say(fmt.Sprintf("a constant feature of %g", float64(a.Constant)), "beside others of at most 1, before the norm: the base rate is learned first")
		say("", fmt.Sprintf("(of named features: ORIEL_FEATURES_BIAS=false, and %q:%g in each event)", ConstantName,
			float64(a.Constant)))
	}
	say(fmt.Sprintf("ORIEL_WINDOW=lifetime ORIEL_MEMORY=%d", a.Memory), "with blt: protects for ever; less where old events no longer hold")
	if a.Constant.Known() {
		say("ORIEL_FEATURES_RANGE=…", "numbers from ranges that are public, not from the data's least and largest")
	}
	return b.String()
}
