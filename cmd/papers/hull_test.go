package papers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// hulls measures PrivateBandit on sets without an interior. Actions stay in the set, because they explore along
// directions of the set's tangent space.
var hulls = Experiment{
	Name:    "hulls",
	Title:   "Regret of PrivateBandit on a simplex and on a flow",
	Text:    "PrivateBandit on sets that have no inside: a simplex of five, and a flow of five edges, ε = 1 and 10",
	Measure: "regret",
	Rows:    rowsOf(hullPlayers),
	Columns: []Column{
		{Name: "simplex, ε = 1", Text: "simplex, ε = 1"},
		{Name: "simplex, ε = 10", Text: "simplex, ε = 10"},
		{Name: "flow, ε = 1", Text: "flow, ε = 1"},
		{Name: "flow, ε = 10", Text: "flow, ε = 10"},
	},
	Steps: 100_000, Short: 2_000, Seeds: 4,
	Panels: [2]int{0, 2},
	Play:   playHulls,
	Notes: []string{
		"A step is a play. The loss is ½|x − z|². z is halfway between a fixed point and a random point of the set.",
		"Simplex: the mixes of five points.",
		"Flow: one unit from s to t, over the edges s>a, s>b, a>b, a>t and b>t, which make three paths.",
		"√T rounds of √T plays, constants of the paper, δ = 1e-6. A play outside the set ends the run.",
		"The middle is the mean of the vertices. No privacy: ε = 10⁹. Each column draws its own plays.",
	},
}

var hullPlayers = []player{
	{plotted("middle", "the middle always", "all"), nil},
	{plotted("no noise", "no privacy", "none"), hullOf("blt", public)},
	{plotted("blt", "`blt` over the rounds", forLife+", (ε, δ)"), hullOf("blt", 0)},
	{plotted("Gauss", "Gaussian tree", forLife+", (ε, δ)"), hullOf("tree-gaussian", 0)},
	{plotted("Γ", "Γ tree", forLife+", ε"), hullOf("tree-gamma", 0)},
}

// hull is a set that is the convex hull of its vertices.
type hull struct {
	settings []string
	edges    string // edges, if the set is a flow
	vertices [][]float64
	// equations of the set: in each row, the last number is the product of a point and the numbers before
	equals [][]float64
}

var (
	simplexOfFive = hull{
		settings: []string{"ORIEL_SET=simplex", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=5", "ORIEL_LOSS_RANGE=0:1"},
		vertices: [][]float64{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}},
		equals:   [][]float64{{1, 1, 1, 1, 1, 1}},
	}
	flowOfFive = hull{
		settings: []string{"ORIEL_SET=flow", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=5", "ORIEL_LOSS_RANGE=0:2"},
		edges:    "s>a\ns>b\na>b\na>t\nb>t\n",
		vertices: [][]float64{{1, 0, 0, 1, 0}, {0, 1, 0, 0, 1}, {1, 0, 1, 0, 1}},
		equals:   [][]float64{{1, 1, 0, 0, 0, 1}, {1, 0, -1, -1, 0, 0}, {0, 1, 1, 0, -1, 0}},
	}
	hullSets = []hull{simplexOfFive, simplexOfFive, flowOfFive, flowOfFive}
)

// hullOf returns the settings for a mechanism. An ε of 0 stands for the column's ε.
func hullOf(mechanism string, epsilon float64) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		e := cmp.Or(epsilon, budgets[column%len(budgets)])
		batch := uint64(math.Sqrt(float64(steps)))
		b := strconv.FormatUint(batch, 10)
		return append([]string{
			"ORIEL_OPERATOR=bandit", "ORIEL_BATCH=" + b, "ORIEL_PLAYS=" + b, "ORIEL_DELAY=0",
			"ORIEL_HORIZON=" + strconv.FormatUint((steps+batch-1)/batch, 10), "ORIEL_MECHANISM=" + mechanism, whole,
			"ORIEL_EPSILON=" + number(e), "ORIEL_DELTA=1e-6",
		}, hullSets[column].settings...)
	}
}

// contains reports whether a point is in the set, up to rounding.
func (h hull) contains(x []float64) bool {
	const rounding = 1e-9
	for _, row := range h.equals {
		if last := len(row) - 1; math.Abs(floats.Dot(row[:last], x)-row[last]) > rounding {
			return false
		}
	}
	return floats.Min(x) >= -rounding
}

// mixes is a world with losses ½|x − z|², where z is a random mix of vertices.
type mixes struct {
	near
	hull
	fixed   []float64
	outside int // number of actions outside the set
}

func newMixes(h hull, rng *rand.Rand) *mixes {
	n := len(h.vertices[0])
	w := &mixes{near: near{rng: rng, z: make([]float64, n), sum: make([]float64, n)}, hull: h, fixed: make([]float64, n)}
	w.mix(w.fixed)
	return w
}

// mix draws a convex combination of the vertices with uniformly distributed weights.
func (w *mixes) mix(dst []float64) {
	clear(dst)
	whole := 0.0
	for _, v := range w.vertices {
		weight := w.rng.ExpFloat64()
		whole += weight
		floats.AddScaled(dst, weight, v)
	}
	floats.Scale(1/whole, dst)
}

// cost returns the loss of an action. Regret is measured against the mean of all z, which lies in the set.
func (w *mixes) cost(play []float64) float64 {
	if !w.contains(play) {
		w.outside++
	}
	w.mix(w.z)
	for i, x := range w.fixed {
		w.z[i] = (w.z[i] + x) / 2
	}
	return w.pay(play)
}

func playHulls(ctx context.Context, c Cell) ([]Point, error) {
	h := hullSets[c.Column]
	w := newMixes(h, rand.New(rand.NewPCG(uint64(c.Seed), 19)))
	if hullPlayers[c.Row].settings == nil {
		middle := make([]float64, len(h.vertices[0]))
		for _, v := range h.vertices {
			floats.AddScaled(middle, 1/float64(len(h.vertices)), v)
		}
		return measure(ctx, c.Steps, func() { w.cost(middle) }, w.regret)
	}
	list := hullPlayers[c.Row].settings(c.Column, c.Steps)
	if h.edges != "" {
		file, err := os.CreateTemp("", "oriel-edges")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.Remove(file.Name()) }()
		_, err = file.WriteString(h.edges)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		list = append(list, "ORIEL_EDGES="+file.Name())
	}
	curve, err := answer(ctx, list, keyOf("hulls", c), w, c.Steps)
	if err == nil && w.outside > 0 {
		err = fmt.Errorf("%d of %d plays are outside the set", w.outside, c.Steps)
	}
	return curve, err
}

// claimsOfHulls checks hulls. On a simplex and on a flow, blt at ε = 1 loses less than always playing
// the middle of the set, and hardly more than without noise. A Γ tree loses twice as much. No action was outside the
// set, because otherwise the table would not exist.
func claimsOfHulls(t *testing.T, got figures) {
	t.Helper()
	for _, column := range []int{0, 2} {
		inOrder(t, got, []order{
			{"blt", "middle", column, 1.3},
			{"blt", "Gauss", column, 1.2},
			{"Gauss", "Γ", column, 1.4},
			{"Γ", "middle", column + 1, 1.3},
		})
		if got["blt"][column] > 1.15*got["no noise"][column] {
			t.Errorf("column %d: blt loses %g, %g without noise", column, got["blt"][column], got["no noise"][column])
		}
	}
}

// TestPlaysOfHullsStayInside checks that vertices, their mixes and actions count as inside. Points off the hull, or
// with a negative coordinate, must count as outside, and a run must end at such an action.
func TestPlaysOfHullsStayInside(t *testing.T) {
	for column, h := range hullSets {
		w := newMixes(h, rand.New(rand.NewPCG(1, 2)))
		for _, v := range append(h.vertices, w.fixed) {
			if !h.contains(v) {
				t.Errorf("%v is not in its set", v)
			}
		}
		for _, out := range [][]float64{{1.1, 0, 0, -0.1, 0}, {0.5, 0.5, 0.5, 0.5, 0.5}} {
			if h.contains(out) {
				t.Errorf("%v is in the set", out)
			}
		}
		curve, err := playHulls(t.Context(), Cell{Row: 2, Column: column, Seed: 1, Steps: 1000})
		if err != nil || len(curve) != len(Marks(1000)) {
			t.Errorf("%s: %v", hulls.Columns[column].Name, err)
		}
	}
}
