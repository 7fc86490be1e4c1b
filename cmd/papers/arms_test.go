package papers

import (
	"context"
	"math/rand/v2"
)

// tenArms measures operators on finitely many arms. operators/arms/SPEC.md compares it with the measured losses of the
// papers' algorithms.
var tenArms = Experiment{
	Name:    "arms",
	Title:   "Regret of ten private arms",
	Text:    "Ten Bernoulli arms, one of them better by 0.1, a million plays, ε = 1 and 0.1",
	Measure: "regret",
	Rows:    rowsOf(armsPlayers),
	Columns: []Column{{Name: "ε = 1", Text: "ε = 1"}, {Name: "ε = 0.1", Text: "ε = 0.1"}},
	Steps:   1_000_000, Short: 5_000, Seeds: 10,
	Panels: [2]int{0, 1},
	Play:   playArms,
	Notes: []string{
		"A step is a play. An arm costs 1 with probability 0.5, the best arm with probability 0.4.",
		"Regret grows by 0.1 with each play of an arm that is not the best.",
		"Pure ε for life, under exchange of one loss for any other. B is the number of plays of a round.",
		"All plays of a round are of one arm, and their losses are released together.",
		"UCB with doubling episodes was measured to lose 2 250 at ε = 1, 6 860 at 0.1, and 1 520 without privacy.",
		"EXP3-IX over batches of 2/ε with centred losses was measured to lose 6 240, 22 600, and 3 520.",
		"Any ε-private rule whose regret grows slower than n^(3/4) loses 9·ln(n)/(400ε) in the mean: 0.31 and 3.1 here.",
	},
}

// armsPlayers lists the rules of operators/arms. The lengths of rounds were measured; see its SPEC.md.
var armsPlayers = []player{
	{plotted("ucb, no noise", "`ucb`, no privacy, B = 1", "none"), armsOf("ucb", public, 1)},
	{plotted("ucb", "`ucb`, B = 64 and 512", forLife+", ε"), armsOf("ucb", 0, 64, 512)},
	{plotted("exp3, no noise", "`exp3`, no privacy, B = 1", "none"), armsOf("exp3", public, 1)},
	{plotted("exp3", "`exp3`, B = 4 and 40", forLife+", ε"), armsOf("exp3", 0, 4, 40)},
	{tabled("exp3-uniform, no noise", "`exp3-uniform`, no privacy, B = 2", "none"), armsOf("exp3-uniform", public, 2)},
	{plotted("exp3-uniform", "`exp3-uniform`, B = 4 and 40", forLife+", ε"), armsOf("exp3-uniform", 0, 4, 40)},
}

// armsBudgets has the ε of each column.
var armsBudgets = []float64{1, 0.1}

// armsOf returns the settings of a rule. An ε of 0 stands for the column's ε. The columns beyond the last batch size
// use the last one.
func armsOf(rule string, epsilon float64, batch ...int) func(int, uint64) []string {
	return func(column int, _ uint64) []string {
		b := number(float64(batch[min(column, len(batch)-1)]))
		e := epsilon
		if e == 0 {
			e = armsBudgets[column]
		}
		return []string{
			"ORIEL_OPERATOR=arms", "ORIEL_ARMS=0,1,2,3,4,5,6,7,8,9", "ORIEL_RULE=" + rule, "ORIEL_LOSS_RANGE=0:1",
			"ORIEL_BATCH=" + b, "ORIEL_PLAYS=" + b, "ORIEL_DELAY=0",
			"ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=lifetime", "ORIEL_EPSILON=" + number(e),
		}
	}
}

// bernoulli is a world whose arms cost 0 or 1, the best one with a smaller probability of 1.
type bernoulli struct {
	rng    *rand.Rand
	best   float64
	wasted int // number of plays of arms other than the best one
}

const gap = 0.1

func (w *bernoulli) cost(play []float64) float64 {
	chance := 0.5
	if play[0] == w.best {
		chance -= gap
	} else {
		w.wasted++
	}
	if w.rng.Float64() < chance {
		return 1
	}
	return 0
}

func (w *bernoulli) regret() float64 { return gap * float64(w.wasted) }

func playArms(ctx context.Context, c Cell) ([]Point, error) {
	w := &bernoulli{rng: rand.New(rand.NewPCG(uint64(c.Seed), 5)), best: float64(c.Seed * 7 % 10)}
	return answer(ctx, armsPlayers[c.Row].settings(c.Column, c.Steps), keyOf("arms", c), w, c.Steps)
}
