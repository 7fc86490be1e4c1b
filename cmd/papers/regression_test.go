package papers

import (
	"cmp"
	"context"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/schemas/event"
)

// regression compares least squares by private second moments with a first-order method.
var regression = Experiment{
	Name:    "regression",
	Title:   "Regret of private least squares",
	Text:    "Labels linear in eight features, mostly of one direction; a stream that stays and one that turns, ε = 1 and 10",
	Measure: "regret",
	Rows:    rowsOf(regressionPlayers),
	Columns: staysAndTurns(budgets),
	Steps:   100_000, Short: 2_000, Seeds: 5,
	Panels: [2]int{0, 2},
	Play:   playRegression,
	Notes: []string{
		"Features have norm 1, with most of it in the first feature. A label is ⟨w, x⟩ and noise of deviation 0.2; |w| = 0.8.",
		"Regret: squared error of predictions against ⟨w, x⟩, each by the decision that was public before.",
		"turns: w changes after each quarter of the run. δ = 1e-6, under exchange of one event for another.",
		"H: memory of decaying sums, private for ever. No privacy: the same code at ε = 10⁹.",
	},
}

const weighed = 8 // number of features

// regressionPlayers lists configurations of operators/ridge, and the projection update on first-order sums.
var regressionPlayers = []player{
	{plotted("none", "moments, no privacy", "none"), regressionOf(public, "", momentRows...)},
	{plotted("blt", "moments, `blt` of the whole run", forLife+", (ε, δ)"), regressionOf(0, "", momentRows...)},
	{plotted("H", "moments, `blt`, H = 8 192", "for ever, (ε, δ)"), regressionOf(0, "8192", momentRows...)},
	{plotted("innovation", "innovation, `blt` of the whole run", forLife+", (ε, δ)"), regressionOf(0, "", innovation...)},
	{
		plotted("first order", "`coco`, projection, `blt` of the whole run", forLife+", (ε, δ)"),
		regressionOf(0, "", first...),
	},
	{
		plotted("first order, H", "`coco`, projection, `blt`, H = 8 192", "for ever, (ε, δ)"),
		regressionOf(0, "8192", first...),
	},
}

var (
	momentRows = []string{"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=moments", "ORIEL_LABEL_RANGE=-1:1"}
	innovation = []string{
		"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=innovation", "ORIEL_LABEL_RANGE=-1:1", "ORIEL_RESIDUAL_MAX=0.5",
		"ORIEL_START_REGULARIZER=300", "ORIEL_STRONG_CONVEXITY=0.01",
	}
	first = []string{
		"ORIEL_OPERATOR=coco", "ORIEL_LOSS=squared", "ORIEL_UPDATE=projection", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=1",
		"ORIEL_CLIP=1", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_START_REGULARIZER=100", "ORIEL_EMIT_EVERY=16",
	}
)

// regressionOf returns the settings of an operator for the whole run, or with decaying sums. An ε of 0 stands for the
// column's ε.
func regressionOf(epsilon float64, memory string, operator ...string) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		e := cmp.Or(epsilon, budgets[column%len(budgets)])
		list := append([]string{
			"ORIEL_DIMENSION=" + strconv.Itoa(weighed), "ORIEL_MECHANISM=blt", "ORIEL_EPSILON=" + number(e), "ORIEL_DELTA=1e-6",
		}, operator...)
		return append(list, lasting(memory, steps)...)
	}
}

// direction draws a unit vector. The deviation of its first coordinate is `first` times the deviation of any other.
func direction(rng *rand.Rand, first float64) []float64 {
	v := make([]float64, weighed)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	v[0] *= first
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

// playRegression sends events, and scores each event with the newest weights that were public before it.
func playRegression(ctx context.Context, c Cell) ([]Point, error) {
	machine, operator, err := open(regressionPlayers[c.Row].settings(c.Column, c.Steps), keyOf("regression", c))
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(c.Seed), 9))
	draw := func() []float64 {
		w := direction(rng, 1)
		floats.Scale(0.8, w)
		return w
	}
	truth, step, off := draw(), uint64(0), 0.0
	score := operators.ScoreOf(operator)
	weights := append([]float64(nil), score.Start...)
	var r operators.Record
	var made []operators.Decision
	return measure(ctx, c.Steps, func() {
		if c.turnsAt(step) {
			truth = draw()
		}
		step++
		x := direction(rng, 3)
		mean := floats.Dot(truth, x)
		r.Identity.Offset++
		r.Event = event.Event{Vector: event.Vector{Values: x}, Label: mean + 0.2*rng.NormFloat64(), Weight: 1}
		d := score.Predict(weights, r.Event) - mean
		off += d * d
		if made = machine.Add(made[:0], r); len(made) > 0 {
			weights = append(weights[:0], made[0].Point...)
		}
	}, func() float64 { return off })
}
