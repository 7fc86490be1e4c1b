package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/floats"
)

// privateBandit compares the noise that PrivateBandit's paper prints with the noise that ε requires.
var privateBandit = Experiment{
	Name:    "bandit",
	Title:   "Regret of PrivateBandit",
	Text:    "PrivateBandit with the paper's ζ and η on a ball, a million plays, ε = 1: printed noise, exact noise, none",
	Measure: "regret",
	Rows:    rowsOf(banditPlayers),
	Columns: []Column{{Name: "n = 2", Text: "n = 2"}, {Name: "n = 4", Text: "n = 4"}},
	Steps:   1_000_000, Short: 5_000, Seeds: 4,
	Panels: [2]int{0, 1},
	Play:   playBandit,
	Notes: []string{
		"A step is a play. The loss is ½|x − z|² on the ball of diameter 1.",
		"z is within 0.1 of a point that is 0.3 from the middle of the ball.",
		"Losses are clipped to their range. There are √T rounds of √T plays; ε = 1, δ = 1e-6.",
		"Losses are measured from their mean, which is estimated from releases. The paper measures them from 0.",
		"Printed noise has the same guarantee as exact noise. Most of the regret comes from printed noise, at any T.",
		"No privacy: the same code at ε = 10⁹.",
	},
}

var banditPlayers = []player{
	{plotted("no noise", "no privacy", "none"), banditOf("blt", public)},
	{plotted("blt", "`blt` over the rounds", forLife+", (ε, δ)"), banditOf("blt", 1)},
	{plotted("Gauss", "Gaussian tree", forLife+", (ε, δ)"), banditOf("tree-gaussian", 1)},
	{plotted("Γ", "Γ tree", forLife+", ε"), banditOf("tree-gamma", 1)},
	{plotted("Laplace", "Laplace tree", forLife+", ε"), banditOf("tree-laplace", 1)},
	{
		plotted("Laplace printed", "Laplace tree, λ as printed", forLife+", ε"),
		banditOf("tree-laplace", 1, printedPlays),
	},
	{
		plotted("Gauss printed", "Gaussian tree, σ as printed", forLife+", (ε, δ)"),
		banditOf("tree-gaussian", 1, printedPlays),
	},
}

// dimensions has the dimension of each column.
var dimensions = []int{2, 4}

// banditOf returns the settings for a mechanism, with the paper's constants for D = L = 1.
func banditOf(mechanism string, epsilon float64, more ...string) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		n := dimensions[column]
		batch := uint64(math.Sqrt(float64(steps)))
		rounds := (steps + batch - 1) / batch
		// ζ: largest distance by which actions may leave the ball
		reach := math.Sqrt(float64(n)) / math.Pow(float64(rounds*batch), 0.25)
		b := strconv.FormatUint(batch, 10)
		return append([]string{
			"ORIEL_OPERATOR=bandit", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=0.5", "ORIEL_DIMENSION=" + strconv.Itoa(n),
			"ORIEL_LOSS_RANGE=0:" + number(1+reach), "ORIEL_SHRINK=false",
			"ORIEL_BATCH=" + b, "ORIEL_PLAYS=" + b, "ORIEL_DELAY=0", "ORIEL_HORIZON=" + strconv.FormatUint(rounds, 10),
			"ORIEL_MECHANISM=" + mechanism, whole, "ORIEL_EPSILON=" + number(epsilon), "ORIEL_DELTA=1e-6",
		}, more...)
	}
}

// near is a world with losses ½|x − z|², where z is drawn around a fixed point.
type near struct {
	rng    *rand.Rand
	centre []float64
	z      []float64 // z of the current play
	sum    []float64 // Σz over all plays
	rest   float64   // Σ½|z|² over all plays
	paid   float64
	plays  int
}

func newNear(n int, rng *rand.Rand) *near {
	w := &near{rng: rng, centre: make([]float64, n), z: make([]float64, n), sum: make([]float64, n)}
	for i := range w.centre {
		w.centre[i] = rng.NormFloat64()
	}
	floats.Scale(0.3/floats.Norm(w.centre, 2), w.centre)
	return w
}

func (w *near) cost(play []float64) float64 {
	for i, x := range w.centre {
		w.z[i] = x + 0.2*w.rng.Float64() - 0.1
	}
	return w.pay(play)
}

// pay returns the loss of a play for the current z, and counts it.
func (w *near) pay(play []float64) (loss float64) {
	for i, x := range play {
		z := w.z[i]
		loss += (x - z) * (x - z) / 2
		w.sum[i] += z
		w.rest += z * z / 2
	}
	w.paid += loss
	w.plays++
	return loss
}

// regret returns the regret against the mean of all z, which is the best fixed action, because it lies in the ball.
func (w *near) regret() float64 {
	return w.paid - (w.rest - floats.Dot(w.sum, w.sum)/(2*float64(w.plays)))
}

func playBandit(ctx context.Context, c Cell) ([]Point, error) {
	w := newNear(dimensions[c.Column], rand.New(rand.NewPCG(uint64(c.Seed), 9)))
	return answer(ctx, banditPlayers[c.Row].settings(c.Column, c.Steps), keyOf("bandit", c), w, c.Steps)
}
