package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"oriel/mechanisms/dp"
)

// tableOne measures each row of Table I of the window paper, "regret of private online convex optimisation".
var tableOne = Experiment{
	Name:    "table1",
	Title:   "Regret of private online convex optimisation",
	Text:    "Table I of the window paper as measured regret, on two streams, ε = 1 and 10",
	Measure: "regret",
	Rows:    rowsOf(methods),
	Columns: tableOneColumns(),
	Steps:   100_000, Short: 2_000, Seeds: 10,
	Panels: [2]int{2, 0},
	Play:   playTableOne,
	Notes: []string{
		"A: ½|x − z|², simplex of 10, µ = 1, L = √2. B: ½(y − ⟨v, x⟩)² + 0.05|x − u|², cube of 10 dimensions, clip 1, µ = 0.1.",
		"δ = 1e-6, under exchange of one event for any other.",
		"W = 1024: for the newest 1024 events only. life: for the whole run.",
		"No privacy: the same code at ε = 10⁹, with noise of about 10⁻³ in a sum.",
		"λ₀ = 10·E|ν|/D is known before any event: with it, noise alone moves a first decision by a tenth of the set.",
	},
}

// tasks has streams A and B.
var tasks = []Task{Targets(10), Squares}

// budgets has the ε of each column of a stream.
var budgets = []float64{1, 10}

// public is the ε of rows without privacy. It is finite, but so large that the proved constants of the llo update have
// almost no error bound. Garber and Hazan's constants have none.
const public = 1e9

func tableOneColumns() []Column {
	var all []Column
	for i, t := range tasks {
		for _, epsilon := range budgets {
			letter := string(rune('A' + i))
			all = append(all, Column{
				Name: fmt.Sprintf("%s, ε = %g", letter, epsilon), Text: fmt.Sprintf("%s %s, ε = %g", letter, t.Name, epsilon),
			})
		}
	}
	return all
}

// method is a row of Table I with the function that opens the row's learner.
type method struct {
	Row
	open func(o opening) (learner, error)
}

// opening holds the arguments for opening a method.
type opening struct {
	task    Task
	epsilon float64
	steps   uint64
	key     [32]byte
}

const (
	window   = "ORIEL_WINDOW=1024"
	whole    = "ORIEL_WINDOW=horizon"
	windowed = "W = 1024"
	forLife  = "life"
)

// methods lists the rows of Table I, further methods, and methods without privacy.
var methods = []method{
	{plotted("FTAL", "FTAL: Algorithm 1, no privacy", "none"), nonPrivate("projection", "tree-gaussian", whole)},
	{tabled("OGD", "online gradient descent, no privacy", "none"), nonPrivate("ogd", "once-gaussian")},
	{tabled("Garber–Hazan", "Garber–Hazan: Algorithm 2, no privacy", "none"), nonPrivate("llo", "tree-gaussian", whole)},
	{plotted("blt, λ₀", "WDP-COCOP, `blt`, λ₀ = 10·E\\|ν\\|/D", windowed+", (ε, δ)"), damped("projection", "blt", window)},
	{plotted("blt", "WDP-COCOP, `blt`", windowed+", (ε, δ)"), cocoOf("projection", "blt", window)},
	{
		plotted("once-blt", "WDP-COCOP, `blt` with `ORIEL_WINDOW=horizon`", forLife+", (ε, δ)"),
		cocoOf("projection", "blt", whole),
	},
	{plotted("Gauss", "WDP-COCOP, Gaussian tree", windowed+", (ε, δ)"), cocoOf("projection", "tree-gaussian", window)},
	{
		tabled("Gauss, W ≥ T", "Algorithm 1, Gaussian tree, W ≥ T", forLife+", (ε, δ)"),
		cocoOf("projection", "tree-gaussian", whole),
	},
	{plotted("Γ", "WDP-COCOP, Γ tree", windowed+", ε"), cocoOf("projection", "tree-gamma", window)},
	{plotted("PFTAL", "PFTAL: Algorithm 1, Γ tree, W ≥ T", forLife+", ε"), cocoOf("projection", "tree-gamma", whole)},
	{
		plotted("Gauss printed", "WDP-COCOP, Gaussian tree, σ as printed", windowed+", (ε, δ)"),
		printedCoco,
	},
	{plotted("COCOL blt", "WDP-COCOL, `blt`, proved constants", windowed+", (ε, δ)"), cocoOf("llo", "blt", window)},
	{
		tabled("COCOL Gauss", "WDP-COCOL, Gaussian tree, proved constants", windowed+", (ε, δ)"),
		cocoOf("llo", "tree-gaussian", window),
	},
	{tabled("COCOL Γ", "WDP-COCOL, Γ tree, proved constants", windowed+", ε"), cocoOf("llo", "tree-gamma", window)},
	{tabled("noisy OGD Γ", "noisy OGD, Γ", forLife+", ε"), cocoOf("ogd", "once-gamma")},
	{plotted("noisy OGD", "noisy OGD, Gaussian", forLife+", (ε, δ)"), cocoOf("ogd", "once-gaussian")},
	{plotted("POCG", "POCG, β₀ = (4L/µ)√(T/2ρ)", forLife+", (ε, δ)"), pocg(Config.PrintedBeta)},
	{tabled("POCG sharp", "POCG, the least β that is proved", forLife+", (ε, δ)"), pocg(Config.SharpBeta)},
	{
		Row{Name: "PQFTL", Text: "PQFTL, Gaussian tree, W ≥ T", Gives: forLife + ", (ε, δ)", Drawn: true, Skip: []int{0, 1}},
		pqftl("tree-gaussian"),
	},
	{
		Row{Name: "PQFTL blt", Text: "PQFTL, `blt` of the whole run", Gives: forLife + ", (ε, δ)", Skip: []int{0, 1}},
		pqftl("blt"),
	},
}

// environ returns the settings of coco, except those of the task.
func (o opening) environ(update, mechanism string, more ...string) []string {
	list := append([]string{
		"ORIEL_UPDATE=" + update, "ORIEL_MECHANISM=" + mechanism, "ORIEL_EPSILON=" + number(o.epsilon), "ORIEL_DELTA=1e-6",
	}, more...)
	steps := strconv.FormatUint(o.steps, 10)
	switch {
	case slices.Contains(more, whole):
		list = append(list, "ORIEL_HORIZON="+steps)
	case update == "llo":
		list = append(list, "ORIEL_ROUNDS="+steps)
	}
	return list
}

func cocoOf(update, mechanism string, more ...string) func(opening) (learner, error) {
	return func(o opening) (learner, error) {
		return newConfigured(o.task, cocoSettings(o.task, o.environ(update, mechanism, more...)), o.key)
	}
}

// printedCoco opens the Gaussian tree with the noise that the paper prints.
func printedCoco(o opening) (learner, error) {
	set, _, err := o.task.Open(1)
	if err != nil {
		return nil, err
	}
	list, err := asPrinted(
		cocoSettings(o.task, o.environ("projection", "tree-gaussian", window)),
		func(c calibrated) float64 {
			return printedWindow(o.task, set, int(c.private.Levels), c.mechanism.Budget) / scaleOf(c)
		},
	)
	if err != nil {
		return nil, err
	}
	return newConfigured(o.task, list, o.key)
}

func nonPrivate(update, mechanism string, more ...string) func(opening) (learner, error) {
	with := cocoOf(update, mechanism, more...)
	return func(o opening) (learner, error) {
		o.epsilon = public
		return with(o)
	}
}

func damped(update, mechanism string, more ...string) func(opening) (learner, error) {
	return func(o opening) (learner, error) {
		environ := o.environ(update, mechanism, more...)
		start, err := damping(o.task, environ)
		if err != nil {
			return nil, err
		}
		return newConfigured(o.task, cocoSettings(o.task, append(environ, start)), o.key)
	}
}

// baseline opens an algorithm that is not an operator.
func baseline(start func(c Config, key [32]byte) (learner, error)) func(opening) (learner, error) {
	return func(o opening) (learner, error) {
		set, _, err := o.task.Open(1)
		if err != nil {
			return nil, err
		}
		return start(Config{
			Set: set, Convexity: o.task.Convexity, Clip: o.task.Clip, Steps: o.steps,
			Budget: dp.Budget{Epsilon: o.epsilon, Delta: 1e-6},
		}, o.key)
	}
}

func pocg(beta func(Config) float64) func(opening) (learner, error) {
	return baseline(func(c Config, key [32]byte) (learner, error) { return NewPOCG(c, beta(c), key) })
}

func pqftl(mechanism string) func(opening) (learner, error) {
	return baseline(func(c Config, key [32]byte) (learner, error) {
		return NewPQFTL(c, mechanism, SquaresLabel, key)
	})
}

// playTableOne plays a stream against a method.
func playTableOne(ctx context.Context, c Cell) ([]Point, error) {
	t := tasks[c.Column/len(budgets)]
	l, err := methods[c.Row].open(opening{
		task: t, epsilon: budgets[c.Column%len(budgets)], steps: c.Steps, key: keyOf("table1", c),
	})
	if err != nil {
		return nil, err
	}
	return play(ctx, t, l, c)
}

// play plays a cell's stream against a learner and measures its regret.
func play(ctx context.Context, t Task, l learner, c Cell) ([]Point, error) {
	set, draw, err := t.Open(c.Seed)
	if err != nil {
		return nil, err
	}
	h, err := NewHindsight(t.Convexity, set)
	if err != nil {
		return nil, err
	}
	return measure(ctx, c.Steps, func() {
		f := draw()
		h.Pay(l.Point(), f)
		l.Step(f)
	}, h.Regret)
}

// measure takes steps, and records the regret at every mark.
func measure(ctx context.Context, steps uint64, next func(), regret func() float64) ([]Point, error) {
	marks := Marks(steps)
	curve := make([]Point, 0, len(marks))
	for step := uint64(1); step <= steps; step++ {
		next()
		if step != marks[len(curve)] {
			continue
		}
		curve = append(curve, Point{Step: step, Value: regret()})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return curve, nil
}
