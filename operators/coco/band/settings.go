package band

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Rows are the rows of a band in the table of settings. They are listed after the settings of the learner.
var Rows = []setting.Row{
	{
		Name: "BAND", Kind: setting.Number, Unit: "share of events",
		Bounds: setting.From(0.5, 0.999).OrZero(), Default: "0",
		Text: "decisions have a band around predictions, or a set of labels, that holds this share of events in the long run. 0: none",
	},
	{
		Name: "BAND_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size",
		Text: "public range of labels that are numbers, which ORIEL_BAND needs; a label beyond counts as its end",
	},
	{
		Name: "BAND_WEIGHT", Kind: setting.Number, Unit: "gradient radii",
		Bounds: setting.From(0.01, 10), Default: "0.3",
		Text: "weight of misses beside gradients: a larger weight makes the band steadier and the model noisier; 0.3 adds 2 % noise to the model",
	},
	{
		Name: "BAND_STEP", Kind: setting.Number, Unit: "shares",
		Bounds: setting.From(1e-6, 0.1), Default: "0.002",
		Text: "step of an end of the band after a miss, as a share of the band: a larger step follows changes sooner, but the band moves more",
	},
}

// Want reads the settings of a band and reports each problem with them. features is X, the largest norm of
// features.
func Want(v *setting.Values, features float64) (s Settings) {
	level, text := v.Number("BAND"), v.Text("BAND_RANGE")
	weight, step := v.Number("BAND_WEIGHT"), v.Number("BAND_STEP")
	if level == 0 && v.Sound("BAND") {
		const idle = "set, but ORIEL_BAND is not: there is no band"
		v.Want("BAND_RANGE", text == "", idle)
		v.Want("BAND_WEIGHT", weight == 0.3, idle)
		v.Want("BAND_STEP", step == 0.002, idle)
		return Settings{}
	}
	name := v.Text("LOSS")
	numbers := slices.Contains([]string{"squared", "absolute", "quantile"}, name)
	v.Want("BAND", numbers || name == "logistic", "ORIEL_LOSS=%s predicts no label; squared, absolute, quantile and logistic do", name)
	v.Want("BAND", HasBound(v.Mechanism), "ORIEL_MECHANISM=%s: wants blt or tree-gaussian, of whose noise a bound is known",
		v.Mechanism)
	v.Want("BAND", features > 0, "needs ORIEL_FEATURES_MAX, which bounds predictions, or ORIEL_FEATURES_NORM=unit")
	s = Settings{Level: level, Weight: weight, Step: step}
	if numbers {
		s.Labels = v.Range("BAND_RANGE")
	} else {
		v.Want("BAND_RANGE", text == "", "%q: labels of two classes have none", text)
	}
	return s
}

// Settings describe a band around predictions that must contain a given share of all labels. With the logistic loss it
// is a set of labels.
type Settings struct {
	Level  float64       // share of labels within the band, in [0.5, 0.999]; 0: there is no band
	Labels setting.Range // public range, to which labels are clamped; zero with the logistic loss
	Weight float64       // w, the size of a miss relative to gradients in a ball of radius 1, in [0.01, 10]
	Step   float64       // η, the relative change of an end by one miss, in [1e-6, 0.1]
}

// maxEnd is the largest absolute value of the ends of a range of labels.
const maxEnd = 1e12

// setsOf reports whether a band under a loss is a set of labels.
func setsOf(l loss.Loss) bool {
	_, logistic := l.(loss.Logistic)
	return logistic
}

// Marks returns the number of columns that a contribution has for the misses of the band: 0 without a band.
func (s Settings) Marks(l loss.Loss) int {
	switch {
	case s.Level == 0:
		return 0
	case setsOf(l):
		return 1
	}
	return 2
}

// Validate refuses settings that are out of range, or that the loss cannot have. featuresMax is the largest norm of
// features.
func (s Settings) Validate(l loss.Loss, featuresMax float64) []error {
	if s == (Settings{}) {
		return nil
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("coco: band: "+format, args...)) }
	if !(s.Level >= 0.5 && s.Level <= 0.999) {
		fail("level %g: not in [0.5, 0.999]", s.Level)
	}
	if !(s.Weight >= 0.01 && s.Weight <= 10) {
		fail("weight %g: not in [0.01, 10]", s.Weight)
	}
	if !(s.Step >= 1e-6 && s.Step <= 0.1) {
		fail("step %g: not in [1e-6, 0.1]", s.Step)
	}
	switch l.(type) {
	case loss.Logistic:
		if s.Labels != (setting.Range{}) {
			fail("range %g:%g: labels of the logistic loss are two classes", s.Labels.Low, s.Labels.High)
		}
	case loss.Squared, loss.Absolute, loss.Quantile:
		if !(s.Labels.Low < s.Labels.High && -maxEnd <= s.Labels.Low && s.Labels.High <= maxEnd) {
			fail("range %g:%g: not ends up to 1e12 in size, the first below the second", s.Labels.Low, s.Labels.High)
		}
	default:
		fail("loss %T: predicts no label; squared, absolute, quantile and logistic do", l)
	}
	if !(featuresMax > 0) {
		fail("features max 0: not known how far a prediction can be from a label")
	}
	return errs
}

// HasBound reports whether a mechanism supports a band, which needs noise of known deviation in totals.
func HasBound(mechanism string) bool {
	facts, _ := mechanisms.FactsOf(mechanism)
	return facts.Normal() && !facts.EachStep()
}

// Beyond changes the labels of canaries so that one is above every band and the other below every band. It does nothing
// if labels are classes.
func (s Settings) Beyond(l loss.Loss, events ...*event.Event) {
	if s.Marks(l) < 2 {
		return
	}
	far := float64(operators.CanaryFactor * (math.Abs(s.Labels.Low) + math.Abs(s.Labels.High)))
	for _, e := range events {
		e.Label = math.Copysign(far+math.Abs(e.Label), e.Label)
	}
}
