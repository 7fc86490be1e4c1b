package moments

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/setting"
)

// shared holds the settings that all operators over second moments have, with the kind, the unit and the limits of
// each.
var shared = []setting.Row{
	{Name: "FEATURES_MAX", Kind: setting.Number, Unit: "feature norm", Bounds: setting.From(1e-12, 1e12)},
	{Name: "LABEL_SHARE", Kind: setting.Number, Unit: "share", Bounds: setting.From(1.0/MaxLabel, 1)},
	{Name: "START_REGULARIZER", Kind: setting.Number, Unit: "events", Bounds: setting.From(0, 1e12)},
	{Name: "NOISE_SHIFT", Kind: setting.Number, Unit: "factor", Bounds: setting.From(0, 1000)},
}

// Setting returns the row of a setting with the operator's own default and text.
func Setting(name, value, text string) setting.Row {
	row := setting.Of(shared, name)
	row.Default, row.Text = value, text
	return row
}

// EmitEvery is the row of the setting EMIT_EVERY.
var EmitEvery = setting.EmitEvery("16",
	"number of steps between two decisions with new weights; the privacy account covers all steps")

// ReadLabel reads LABEL_SHARE and returns the Label of Rows.
func ReadLabel(v *setting.Values) int {
	return int(math.Floor(float64(v.Number("LABEL_SHARE") * MaxLabel)))
}

// WantMechanism reports a mechanism whose releases are not sums, or whose noise has no known spectral edge.
func WantMechanism(v *setting.Values) {
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || facts.Normal() && !facts.EachStep(),
		"%s: take one with Gaussian noise and prefix sums: blt or tree-gaussian", v.Mechanism)
}
