package papers

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"strconv"

	"oriel/operators"
	"oriel/schemas/event"
)

// contexts measures the contextual bandit. Its paper has no usable figures, so rows are compared only with each other.
var contexts = Experiment{
	Name:    "contexts",
	Title:   "Regret of private contextual bandits",
	Text:    "Four arms, rewards linear in contexts of five features, a stream that stays and one that turns, ε = 1 and 10",
	Measure: "regret",
	Rows:    rowsOf(contextsPlayers),
	Columns: staysAndTurns(budgets),
	Steps:   100_000, Short: 2_000, Seeds: 5,
	Panels: [2]int{0, 2},
	Play:   playContexts,
	Notes: []string{
		"Contexts are uniform on the sphere. A reward is 1 with probability ½ + ½⟨θ, z⟩, and else 0; |θ| = 0.8 for each arm.",
		"turns: after each quarter of the run, every arm gets the weights of the arm before it.",
		"δ = 1e-6, under exchange of one context with its reward. H: memory of decaying sums, private for ever.",
		"No privacy: the same code at ε = 10⁹. A step is a context and its reward: two records, so H is 32 768 steps.",
		"In the last rows (a tree), width and shift are the proved ones. Noise is exact, or as large as the source prints it.",
		"With printed noise the true loss is far below ε: the printed constants waste the difference.",
	},
}

// contextsPlayers lists configurations of operators/linucb.
var contextsPlayers = []player{
	{plotted("none", "no privacy", "none"), contextsOf(public, "blt")},
	{plotted("none, H", "no privacy, H = 16 384", "none"), contextsOf(public, "")},
	{plotted("blt", "`blt` of the whole run", forLife+", (ε, δ)"), contextsOf(0, "blt")},
	{plotted("H", "`blt`, H = 16 384", "for ever, (ε, δ)"), contextsOf(0, "")},
	{plotted("tree", "Gaussian tree of the whole run", forLife+", (ε, δ)"), contextsOf(0, "tree-gaussian")},
	{
		plotted("proved", "`blt` of the whole run, proved width", forLife+", (ε, δ)"),
		contextsOf(0, "blt", "ORIEL_CONFIDENCE=0.95", "ORIEL_WEIGHTS_MAX=1"),
	},
	{tabled("tree, proved", "tree, Gaussian noise, exact", forLife+", (ε, δ)"), treeOf},
	{tabled("tree, printed", "tree, Gaussian noise, as printed", forLife+", (ε, δ)"), printedTreeOf(printedGaussian)},
	{tabled("Wishart", "tree, Wishart noise, as printed", forLife+", (ε, δ)"), printedTreeOf(printedWishart)},
}

// treeOf returns the settings of the paper's algorithm over a tree, with the proved confidence width.
func treeOf(column int, steps uint64) []string {
	return contextsOf(0, "tree-gaussian", "ORIEL_CONFIDENCE=0.95", "ORIEL_WEIGHTS_MAX=1")(column, steps)
}

// printedTreeOf returns the settings of treeOf with noise as the source prints it.
func printedTreeOf(noise string) func(int, uint64) []string {
	return func(column int, steps uint64) []string { return append(treeOf(column, steps), noise) }
}

const (
	contextFeatures = 5
	contextArms     = 4
)

// contextsOf returns the settings of linucb with a mechanism for the whole run or, if mechanism is "", with decaying
// sums. An ε of 0 stands for the column's ε.
func contextsOf(epsilon float64, mechanism string, more ...string) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		e := cmp.Or(epsilon, budgets[column%len(budgets)])
		list := append([]string{
			"ORIEL_OPERATOR=linucb", "ORIEL_PLAYED=served", "ORIEL_WAIT=4", "ORIEL_ARMS=a,b,c,d",
			"ORIEL_DIMENSION=" + strconv.Itoa(contextFeatures), "ORIEL_EPSILON=" + number(e), "ORIEL_DELTA=1e-6",
			"ORIEL_WEIGHTS_MAX=2.5", // rows with ORIEL_CONFIDENCE add a later ORIEL_WEIGHTS_MAX=1, which replaces this one
		}, more...)
		if mechanism == "" {
			return append(list, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=32768")
		}
		return append(list, "ORIEL_MECHANISM="+mechanism, "ORIEL_WINDOW=horizon",
			"ORIEL_HORIZON="+strconv.FormatUint(2*steps, 10)) // a step has two records: its context and its reward
	}
}

// linear is a world whose rewards are linear in contexts.
type linear struct {
	rng    *rand.Rand
	truth  [contextArms][]float64
	turned int // number of arms by which the weights have moved on
	lost   float64
}

// unit draws a vector of the given norm in a random direction.
func (w *linear) unit(size float64) []float64 {
	v, norm := make([]float64, contextFeatures), 0.0
	for i := range v {
		v[i] = w.rng.NormFloat64()
		norm += v[i] * v[i]
	}
	for i := range v {
		v[i] *= size / math.Sqrt(norm)
	}
	return v
}

// chance returns the probability that an arm gives a reward in a context.
func (w *linear) chance(arm int, z []float64) float64 {
	sum := 0.0
	for i, x := range w.truth[(arm+w.turned)%contextArms] {
		sum += x * z[i]
	}
	return (1 + sum) / 2
}

// play plays an arm in a context and returns the reward.
func (w *linear) play(arm int, z []float64) (reward float64) {
	best := 0.0
	for a := range contextArms {
		best = max(best, w.chance(a, z))
	}
	w.lost += best - w.chance(arm, z)
	if w.rng.Float64() < w.chance(arm, z) {
		return 1
	}
	return 0
}

// playContexts sends each context, plays the arm that the operator returns, and sends the reward at once.
func playContexts(ctx context.Context, c Cell) ([]Point, error) {
	w := &linear{rng: rand.New(rand.NewPCG(uint64(c.Seed), 6))}
	for a := range w.truth {
		w.truth[a] = w.unit(0.8)
	}
	machine, _, err := open(contextsPlayers[c.Row].settings(c.Column, c.Steps), keyOf("contexts", c))
	if err != nil {
		return nil, err
	}
	choose := ask(machine)
	step := uint64(0)
	return measure(ctx, c.Steps, func() {
		if c.turnsAt(step) {
			w.turned++
		}
		step++
		z := w.unit(1)
		arm, learn := choose(step, z)
		learn(w.play(arm, z))
	}, func() float64 { return w.lost })
}

// learningMachine is a machine that closes its own steps: Add also returns the decisions after the record.
type learningMachine interface {
	Add(dst []operators.Decision, r operators.Record) []operators.Decision
}

// ask returns a function that sends a context under a new key. The returned function returns the chosen arm, and a
// function that sends the reward.
func ask(machine learningMachine) func(step uint64, z []float64) (arm int, learn func(reward float64)) {
	var r operators.Record
	var made []operators.Decision
	learn := func(reward float64) {
		r.Identity.Offset++
		r.Event = event.Event{Numbers: []float64{-1, reward}}
		made = machine.Add(made[:0], r)
	}
	return func(step uint64, z []float64) (int, func(float64)) {
		r.Key = strconv.AppendUint(r.Key[:0], step, 10)
		r.Identity.Offset++
		r.Event = event.Event{Vector: event.Vector{Values: z}, Numbers: []float64{-1, -math.MaxFloat64}}
		made = machine.Add(made[:0], r)
		return int(made[0].Point[0]), learn
	}
}
