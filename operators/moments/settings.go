package moments

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators"
)

// shared holds the settings that all operators over second moments have, with the kind, the unit and the limits of
// each.
var shared = []operators.Setting{
	{Name: "FEATURES_MAX", Kind: operators.Number, Unit: "feature norm", Bounds: operators.From(1e-12, 1e12)},
	{Name: "LABEL_SHARE", Kind: operators.Number, Unit: "share", Bounds: operators.From(1.0/MaxLabel, 1)},
	{Name: "START_REGULARIZER", Kind: operators.Number, Unit: "events", Bounds: operators.From(0, 1e12)},
	{Name: "NOISE_SHIFT", Kind: operators.Number, Unit: "factor", Bounds: operators.From(0, 1000)},
}

// Setting returns the row of a setting with the operator's own default and text.
func Setting(name, value, text string) operators.Setting {
	row := operators.SettingOf(shared, name)
	row.Default, row.Text = value, text
	return row
}

// EmitEvery is the row of the setting EMIT_EVERY.
var EmitEvery = operators.EmitEvery("16",
	"number of steps between two decisions with new weights; the privacy account covers all steps")

// ReadLabel reads LABEL_SHARE and returns the Label of Rows.
func ReadLabel(v *operators.Values) int {
	return int(math.Floor(float64(v.Number("LABEL_SHARE") * MaxLabel)))
}

// WantMechanism reports a mechanism whose releases are not sums, or whose noise has no known spectral edge.
func WantMechanism(v *operators.Values) {
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || facts.Law == mechanisms.Gaussian && facts.Structure != mechanisms.PerStep,
		"%s: take one with Gaussian noise and prefix sums: blt or tree-gaussian", v.Mechanism)
}
