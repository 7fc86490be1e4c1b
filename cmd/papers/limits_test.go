package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"

	"oriel/operators"
	"oriel/schemas/event"
)

// limits measures lower bounds for any private bandit: Claims 13 and 14 of the contextual bandit's paper.
var limits = Experiment{
	Name:    "limits",
	Title:   "The least loss of private bandits",
	Text:    "Two contexts with one good arm each, and ten arms without a context, beside the proved lower bounds",
	Measure: "regret",
	Rows: []Row{
		plotted("least", "the proved loss of such a bandit", "as the row below"),
		plotted("ordinary", "`arms`, `ucb`, which sees no context", "for ever, ε"),
		{Name: "joint", Text: "`linucb`, `blt`, jointly private", Gives: forLife + ", (ε, δ)", Skip: []int{2, 3}, Drawn: true},
		plotted("none", "no privacy: `linucb`, and `ucb`", "none"),
	},
	Columns: []Column{
		{Name: "contexts, ε = 1", Text: "two contexts, ε = 1"},
		{Name: "contexts, ε = 10", Text: "two contexts, ε = 10"},
		{Name: "arms, ε = 1", Text: "ten arms, ε = 1"},
		{Name: "arms, ε = 0.01", Text: "ten arms, ε = 0.01"},
	},
	Steps: 100_000, Short: 3_000, Seeds: 5,
	Panels: [2]int{0, 3},
	Play:   playLimits,
	Notes: []string{
		"The two contexts are equally likely. In each, one arm pays a reward with probability ¾, the other with ¼.",
		"A bandit of ordinary privacy ε plays the wrong arm with probability at least 1/(1 + e^ε).",
		"It therefore loses at least n·½/(1 + e^ε). Claim 13 of the source says that this grows as n for ε < ln 2.",
		"Joint privacy hides a context from all other users, but not from the user who asked. Such a bandit learns.",
		"The ten arms are the same as in `TestTables/arms`. Any ε-private bandit loses (k − 1)·ln n/(400ε).",
		"This bound is half of Corollary 15, because Corollary 15 has rewards of −1 and 1, and these arms of 0 and 1.",
		"The bound is for long streams. The loss of `ucb` is far above it. B = 64, and 512 at ε = 0.01.",
	},
}

const sharply = 0.5 // difference between the mean rewards of the right arm and the other

// limitsOf returns the settings of a row in a column: of contexts, or of arms without a context.
func limitsOf(row, column int, steps uint64) []string {
	epsilon := epsilons[column]
	arms, batch := "a,b", "64"
	if column >= 2 {
		arms = "0,1,2,3,4,5,6,7,8,9"
	}
	if row == 3 {
		epsilon, batch = public, "1"
	} else if column == 3 {
		batch = "512"
	}
	if row == 1 || column >= 2 {
		return []string{
			"ORIEL_OPERATOR=arms", "ORIEL_ARMS=" + arms, "ORIEL_RULE=ucb", "ORIEL_BATCH=" + batch, "ORIEL_PLAYS=" + batch,
			"ORIEL_DELAY=0", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=lifetime", "ORIEL_EPSILON=" + number(epsilon),
		}
	}
	return []string{
		"ORIEL_OPERATOR=linucb", "ORIEL_PLAYED=logged", "ORIEL_ARMS=" + arms, "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=" + strconv.FormatUint(steps, 10), "ORIEL_EPSILON=" + number(epsilon),
		"ORIEL_DELTA=1e-6", "ORIEL_WEIGHTS_MAX=2.5",
	}
}

// two is a world of two contexts, each with its own best arm.
type two struct {
	rng   *rand.Rand
	which int
	lost  float64
}

func (w *two) meet() int {
	w.which = w.rng.IntN(2)
	return w.which
}

// reward draws the reward of an arm for the current context.
func (w *two) reward(arm int) float64 {
	chance := (1 - sharply) / 2
	if arm == w.which {
		chance += sharply
	} else {
		w.lost += sharply
	}
	if w.rng.Float64() < chance {
		return 1
	}
	return 0
}

// blind is the world two for a player that does not see the context.
type blind struct{ two }

func (w *blind) cost(play []float64) float64 {
	w.meet()
	return 1 - w.reward(int(play[0]))
}

func (w *blind) regret() float64 { return w.lost }

// least returns the smallest loss that a private bandit can have in this many steps, as proved.
//
// Contexts: p and q are the probabilities of the right arm in the two contexts. An action is ε-private of its context,
// so that p ≤ e^ε(1 − q) and q ≤ e^ε(1 − p). Their sum gives p + q ≤ 2e^ε/(1 + e^ε). If both contexts are equally
// frequent, a share of at least 1/(1 + e^ε) gets the wrong arm, each time with a loss of sharply.
//
// Arms: Corollary 15 of the paper, which is for rewards −1 and 1. Rewards 0 and 1 have half the gaps, and therefore
// half the regret.
func least(column int, steps uint64) float64 {
	n, epsilon := float64(steps), epsilons[column]
	if column < 2 {
		return n * sharply / (1 + math.Exp(epsilon))
	}
	return 9 * math.Log(n) / (400 * epsilon)
}

// epsilons has the ε of each column.
var epsilons = [4]float64{1, 10, 1, 0.01}

func playLimits(ctx context.Context, c Cell) ([]Point, error) {
	seeded := rand.New(rand.NewPCG(uint64(c.Seed), 15))
	switch list, key := limitsOf(c.Row, c.Column, c.Steps), keyOf("limits", c); {
	case c.Row == 0:
		var step uint64
		return measure(ctx, c.Steps, func() { step++ }, func() float64 { return least(c.Column, step) })
	case c.Column >= 2:
		w := &bernoulli{rng: seeded, best: float64(c.Seed * 7 % 10)}
		return answer(ctx, list, key, w, c.Steps)
	case c.Row == 1:
		return answer(ctx, list, key, &blind{two{rng: seeded}}, c.Steps)
	default:
		return playTwo(ctx, list, key, &two{rng: seeded}, c.Steps)
	}
}

// playTwo plays the best arm by the newest weights in each context, as a client that knows the context can.
func playTwo(ctx context.Context, list []string, key [32]byte, w *two, steps uint64) ([]Point, error) {
	machine, _, err := open(list, key)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, 4)
	var r operators.Record
	var made []operators.Decision
	return measure(ctx, steps, func() {
		at := w.meet()
		arm := 0
		if weights[2+at] > weights[at] || weights[2+at] == weights[at] && w.rng.IntN(2) == 1 {
			arm = 1
		}
		z := make([]float64, 2)
		z[at] = 1
		r.Identity.Offset++
		r.Event = event.Event{Vector: event.Vector{Values: z}, Numbers: []float64{float64(arm), w.reward(arm)}}
		if made = machine.Add(made[:0], r); len(made) > 0 {
			copy(weights, made[0].Point)
		}
	}, func() float64 { return w.lost })
}
