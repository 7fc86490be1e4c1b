package coco

import (
	"slices"

	"oriel/operators"
)

// bandSettings are the settings of a band. They are listed after the settings of the learner.
var bandSettings = []operators.Setting{
	{
		Name: "BAND", Kind: operators.Number, Unit: "share of events",
		Bounds: operators.From(0.5, 0.999).OrZero(), Default: "0", Later: true,
		Text: "decisions have a band around predictions, or a set of labels, that holds this share of events in the long run. 0: none",
	},
	{
		Name: "BAND_RANGE", Kind: operators.Text, Form: operators.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Later: true,
		Text: "public range of labels that are numbers, which ORIEL_BAND needs; a label beyond counts as its end",
	},
	{
		Name: "BAND_WEIGHT", Kind: operators.Number, Unit: "gradient radii",
		Bounds: operators.From(0.01, 10), Default: "0.3", Later: true,
		Text: "weight of misses beside gradients: a larger weight makes the band steadier and the model noisier; 0.3 adds 2 % noise to the model",
	},
	{
		Name: "BAND_STEP", Kind: operators.Number, Unit: "shares",
		Bounds: operators.From(1e-6, 0.1), Default: "0.002", Later: true,
		Text: "step of an end of the band after a miss, as a share of the band: a larger step follows changes sooner, but the band moves more",
	},
}

// wantBand reads the settings of a band and reports each problem with them. features is X, the largest norm of
// features.
func wantBand(v *operators.Values, features float64) (b Band) {
	level, text := v.Number("BAND"), v.Text("BAND_RANGE")
	weight, step := v.Number("BAND_WEIGHT"), v.Number("BAND_STEP")
	if level == 0 && v.Sound("BAND") {
		const idle = "set, but ORIEL_BAND is not: there is no band"
		v.Want("BAND_RANGE", text == "", idle)
		v.Want("BAND_WEIGHT", weight == 0.3, idle)
		v.Want("BAND_STEP", step == 0.002, idle)
		return Band{}
	}
	name := v.Text("LOSS")
	numbers := slices.Contains([]string{"squared", "absolute", "quantile"}, name)
	v.Want("BAND", numbers || name == "logistic", "ORIEL_LOSS=%s predicts no label; squared, absolute, quantile and logistic do", name)
	v.Want("BAND", wantsGaussian(v.Mechanism), "ORIEL_MECHANISM=%s: wants blt or tree-gaussian, of whose noise a bound is known",
		v.Mechanism)
	v.Want("BAND", v.Text("UPDATE") == Projection || v.Text("UPDATE") == LLO && v.Text("CONSTANTS") == Search,
		"wants ORIEL_UPDATE=projection, or llo with ORIEL_CONSTANTS=search")
	v.Want("BAND", features > 0, "needs ORIEL_FEATURES_MAX, which bounds predictions, or ORIEL_FEATURES_NORM=unit")
	b = Band{Level: level, Weight: weight, Step: step}
	if numbers {
		b.Labels = v.Range("BAND_RANGE")
	} else {
		v.Want("BAND_RANGE", text == "", "%q: labels of two classes have none", text)
	}
	return b
}
