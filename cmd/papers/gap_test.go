package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"oriel/operators"
	"oriel/schemas/decision"
)

// gaps measures a contextual bandit in which one arm is better by at least a gap in every context. It compares regret
// with the two bounds of the paper: Theorem 5, for any contexts, and Theorem 6, for a gap.
var gaps = Experiment{
	Name:    "gap",
	Title:   "Regret of a private contextual bandit with a gap",
	Text:    "Two arms, one of them better by the gap or more in every context, beside the bounds with and without the gap",
	Measure: "regret",
	Rows: []Row{
		plotted("none", "no privacy, proved width", "none"),
		plotted("blt", "`blt`, proved width", forLife+", (ε, δ)"),
		plotted("tree", "Gaussian tree, proved width", forLife+", (ε, δ)"),
		plotted("Theorem 6", "Theorem 6, of `blt`: with the gap", "as `blt`"),
		plotted("Theorem 5", "Theorem 5, of `blt`: without it", "as `blt`"),
		plotted("most", "the worse arm always", "none"),
	},
	Columns: gapColumns(),
	Steps:   100_000, Short: 2_000, Seeds: 4,
	Panels: [2]int{2, 0},
	Play:   playGaps,
	Notes: []string{
		"A reward is 1 with probability ½ ± ½·0.8·⟨u, z⟩, and else 0.",
		"z is uniform among the directions of the plane that have the gap.",
		"Both bounds hold for the width and the shift that decisions state, at each step, with probability 0.95.",
		"Theorem 5 grows as √n, Theorem 6 as log n over the gap. A bound above the loss of the worse arm says nothing.",
		"δ = 1e-6, under exchange of one context with its reward. No privacy: the same code at ε = 10⁹.",
	},
}

const (
	gapFeatures = 2
	gapArms     = 2
	gapSlope    = 0.8 // half the distance between the weights of the two arms, in units of half the reward range
)

// gapSettings are the settings of the columns: the gap, in rewards, and ε.
var gapSettings = []struct{ gap, epsilon float64 }{{0.4, 1}, {0.4, 10}, {0.4, 100}, {0.2, 1}, {0.2, 10}, {0.2, 100}}

func gapColumns() (columns []Column) {
	for _, s := range gapSettings {
		name := "gap " + number(s.gap) + ", ε = " + number(s.epsilon)
		columns = append(columns, Column{Name: name, Text: name})
	}
	return columns
}

// gapSettingsOf returns settings of linucb with which each model is computed from all earlier rewards.
func gapSettingsOf(mechanism string, epsilon float64, steps uint64) []string {
	return []string{
		"ORIEL_OPERATOR=linucb", "ORIEL_PLAYED=served", "ORIEL_WAIT=2", "ORIEL_ARMS=a,b",
		"ORIEL_DIMENSION=" + strconv.Itoa(gapFeatures), "ORIEL_EMIT_EVERY=2", "ORIEL_CONFIDENCE=0.95", "ORIEL_WEIGHTS_MAX=1",
		"ORIEL_MECHANISM=" + mechanism, whole, "ORIEL_HORIZON=" + strconv.FormatUint(2*steps, 10),
		"ORIEL_EPSILON=" + number(epsilon), "ORIEL_DELTA=1e-6",
	}
}

// gapWorld is a world of two arms whose mean rewards differ by at least the gap in every context.
type gapWorld struct {
	rng         *rand.Rand
	gap         float64
	slope       [gapFeatures]float64 // gapSlope·u: mean rewards of arm 0 minus those of arm 1, by feature
	lost, worse float64              // regret so far: of the actions, and of always playing the worse arm
}

// meet draws a context.
func (w *gapWorld) meet() []float64 {
	for {
		angle := 2 * math.Pi * w.rng.Float64()
		z := []float64{math.Cos(angle), math.Sin(angle)}
		if math.Abs(w.ahead(z)) >= w.gap {
			return z
		}
	}
}

// ahead returns the mean reward of arm 0 minus the mean reward of arm 1 in a context.
func (w *gapWorld) ahead(z []float64) float64 { return w.slope[0]*z[0] + w.slope[1]*z[1] }

// play plays an arm and returns its reward.
func (w *gapWorld) play(arm int, z []float64) (reward float64) {
	ahead := w.ahead(z)
	if (arm == 0) != (ahead > 0) {
		w.lost += math.Abs(ahead)
	}
	w.worse += math.Abs(ahead)
	chance := 0.5 + ahead/2
	if arm == 1 {
		chance = 0.5 - ahead/2
	}
	if w.rng.Float64() < chance {
		return 1
	}
	return 0
}

// watched is a machine that records the confidence width and the shift of each model.
type watched struct {
	*operators.Counted
	atWidth, atShift int
	width            float64 // largest width so far
	shift            float64
}

// watch wraps the machine of an operator.
func watch(machine *operators.Counted, operator operators.Operator) *watched {
	extras := operator.(operators.Writer).Extras()
	at := func(name string) int {
		return slices.IndexFunc(extras, func(x decision.Extra) bool { return x.Name == name })
	}
	return &watched{Counted: machine, atWidth: at("width"), atShift: at("shift")}
}

func (w *watched) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	dst = w.Counted.Add(dst, r)
	for _, d := range dst {
		w.width, w.shift = max(w.width, d.Extras[w.atWidth].Number), d.Extras[w.atShift].Number
	}
	return dst
}

// bounds returns the bounds of the two theorems on the regret after this many plays, in rewards: Shariff and Sheffet,
// "Differentially Private Contextual Linear Bandits" (NeurIPS 2018), in the safe form of operators/linucb/PROOF.md. A
// play that loses r, in half ranges of the reward, has r ≤ a + e, where a is the width of the play's confidence
// interval and e bounds the rounding. The squares of a sum to at most q = 8·max(1, β)²·Kd·ln(1 + n/(Kdρ)), because each
// model contains all earlier plays. So n plays lose at most √(nq) + ne. If each play that loses anything loses at least
// the gap Δ > e, then r ≤ a²·r/(r − e)² ≤ a²·Δ/(Δ − e)². The shift is 2Υ, and ρ = Υ + λ with λ = 1.
func (w *watched) bounds(plays, gap float64) (theorem5, theorem6 float64) {
	const half, blocks = 0.5, gapFeatures * gapArms
	least, width := w.shift/2+1, max(1, w.width)
	squares := 8 * width * width * blocks * math.Log(1+plays/(blocks*least))
	rounding := 2 * width * (2*math.Sqrt(gapFeatures) + 2) / 4096 / math.Sqrt(least)
	gap /= half
	theorem6 = squares * gap / ((gap - rounding) * (gap - rounding))
	return half * (math.Sqrt(plays*squares) + plays*rounding), half * theorem6
}

// gapMeasures is the number of curves of a run of blt: its regret, the two bounds, and the regret of the worse arm.
const gapMeasures = 4

// gapRow returns the run that a row shows, and the index of the shown curve.
func gapRow(row int) (run, measure int) {
	if row < 3 {
		return row, 0
	}
	return 1, row - 2
}

// lastGap caches the newest run, because consecutive rows show curves of the same run.
var lastGap struct {
	sync.Mutex
	of     Cell
	curves [gapMeasures][]Point
}

func playGaps(ctx context.Context, c Cell) ([]Point, error) {
	run, measure := gapRow(c.Row)
	c.Row = run
	lastGap.Lock()
	defer lastGap.Unlock()
	if lastGap.of != c {
		curves, err := runGap(ctx, c)
		if err != nil {
			return nil, err
		}
		lastGap.of, lastGap.curves = c, curves
	}
	return slices.Clone(lastGap.curves[measure]), nil
}

// runGap returns the regret of a run, the two bounds, and the regret of always playing the worse arm.
func runGap(ctx context.Context, c Cell) (curves [gapMeasures][]Point, err error) {
	s, mechanism := gapSettings[c.Column], "blt"
	switch c.Row {
	case 0:
		s.epsilon = public
	case 2:
		mechanism = "tree-gaussian"
	}
	machine, operator, err := open(gapSettingsOf(mechanism, s.epsilon, c.Steps), keyOf("gap", c))
	if err != nil {
		return curves, err
	}
	w := &gapWorld{rng: rand.New(rand.NewPCG(uint64(c.Seed), 17)), gap: s.gap}
	angle := 2 * math.Pi * w.rng.Float64()
	w.slope = [gapFeatures]float64{gapSlope * math.Cos(angle), gapSlope * math.Sin(angle)}
	seen := watch(machine, operator)
	choose, step := ask(seen), uint64(0)
	curves[0], err = measure(ctx, c.Steps, func() {
		step++
		z := w.meet()
		arm, learn := choose(step, z)
		learn(w.play(arm, z))
	}, func() float64 {
		theorem5, theorem6 := seen.bounds(float64(step), s.gap)
		for i, x := range []float64{theorem6, theorem5, w.worse} {
			curves[1+i] = append(curves[1+i], Point{Step: step, Value: x})
		}
		return w.lost
	})
	return curves, err
}
