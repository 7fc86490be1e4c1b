package ridge

import (
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/operators/moments"
	"oriel/operators/setting"
)

// These are the updates.
const (
	Moments    = "moments"
	Innovation = "innovation"

	shifted = "shift"
	raised  = "raise"
)

// Definition is the entry of ridge in the registry of operators.
var Definition = operators.Definition{
	Name: "ridge", Text: "least squares: weights with standard errors from private second moments",
	Settings: settings, Events: events, New: configure,
}

var settings = []setting.Row{
	{
		Name: "UPDATE", Kind: setting.Text, Unit: "name", Choices: []string{Moments, Innovation}, Required: true,
		Text: "ridge regression on private second moments, or innovation least squares on clipped residuals beside them",
	},
	{
		Name: "DIMENSION", Kind: setting.Count, Unit: "coordinates",
		Bounds: setting.From(1, moments.MaxFeatures), Required: true, Decodes: true,
		Text: "dimension d of decisions and feature vectors: d² numbers are noised for each step",
	},
	{
		Name: "LABEL_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Required: true,
		Text: "public range of labels: labels outside are clamped to it, and so are predictions. Weights of zero predict its middle",
	},
	moments.Setting("FEATURES_MAX", "1", "X, the largest norm of features: longer vectors are scaled down to it"),
	moments.Setting("LABEL_SHARE", "0.7",
		"s, rounded down to a multiple of 1/1024: noise is (1 + s²) on moments of features, and (1 + s²)/s on moments with the label"),
	{
		Name: "RESIDUAL_MAX", Kind: setting.Number, Unit: "label", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "C: residuals are clipped to C; ORIEL_UPDATE=innovation needs it, and its noise is proportional to C",
	},
	{
		Name: "GAIN", Kind: setting.Number, Unit: "factor", Bounds: setting.From(0, 1e9), Default: "200",
		Text: "α of ORIEL_UPDATE=innovation: weight of the private second moments in a step; 0: none, a first-order update",
	},
	moments.Setting("START_REGULARIZER", "10",
		"λ₀, public regulariser: the regulariser counts like this many pseudo-events with label 0 in each direction"),
	{
		Name: "STRONG_CONVEXITY", Kind: setting.Number, Unit: "share", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "µ: the regulariser grows by µ with each event",
	},
	moments.Setting("NOISE_SHIFT", "1",
		"f: released second moments are shifted by f times the edge of their noise's spectrum, 2√d·sd. If "+
			"this is too little, the shift is doubled"),
	{
		Name: "SPECTRUM", Kind: setting.Text, Unit: "name", Choices: []string{shifted, raised}, Default: shifted,
		Text: "shift: the shift is added to the diagonal. raise: smaller eigenvalues are raised to the shift, " +
			"which is better for features of unlike size, and slower",
	},
	{
		Name: "WEIGHTS_MAX", Kind: setting.Number, Unit: "half label ranges",
		Bounds: setting.From(1e-6, 1e6), Default: "6",
		Text: "largest norm of weights; longer ones are scaled down. 1: features of norm ORIEL_FEATURES_MAX " +
			"can move a prediction by half of ORIEL_LABEL_RANGE",
	},
	moments.EmitEvery,
}

func events(v *setting.Values) operators.Events {
	d := v.Count("DIMENSION")
	d = min(d, moments.MaxFeatures)
	body, _ := loss.Body("squared", int(d)) // no error: this loss exists
	return operators.Events{Body: body, Dimension: int(d)}
}

func configure(v *setting.Values) (operators.Operator, error) {
	c := operator{
		rows:       moments.Rows{Features: int(min(v.Count("DIMENSION"), moments.MaxFeatures))},
		innovation: v.Text("UPDATE") == Innovation,
		features:   v.Number("FEATURES_MAX"),
		residual:   v.Number("RESIDUAL_MAX"),
		gain:       v.Number("GAIN"),
		start:      v.Number("START_REGULARIZER"),
		convexity:  v.Number("STRONG_CONVEXITY"),
		shift:      v.Number("NOISE_SHIFT"),
		raise:      v.Text("SPECTRUM") == raised,
		maxWeights: v.Number("WEIGHTS_MAX"),
		every:      v.Count("EMIT_EVERY"), batch: v.Batch, terms: v.Terms,
	}
	c.rows.Label = moments.ReadLabel(v)
	labels := v.Range("LABEL_RANGE")
	c.middle, c.half = labels.Middle(), labels.Half()
	v.Want("RESIDUAL_MAX", c.residual > 0 || !c.innovation, "not set; ORIEL_UPDATE=innovation needs it")
	v.Want("RESIDUAL_MAX", c.residual == 0 || c.innovation, "set, but ORIEL_UPDATE=moments clips no residuals")
	moments.WantMechanism(v)
	return c, v.Err()
}
