package papers

import (
	"context"
	"fmt"
	"strconv"
)

// windows measures how regret grows with the dimension d and the window W, which Theorems 3 and 4 of the window paper
// bound.
var windows = Experiment{
	Name:    "window",
	Title:   "Regret along dimension and window",
	Text:    "WDP-COCOP of a Γ tree, a Gaussian tree and blt on stream A; only d, W or ε varies",
	Measure: "regret",
	Rows: []Row{
		plotted("none", "no privacy", "none"),
		plotted("blt", "`blt`", "W, (ε, δ)"),
		plotted("Gauss", "Gaussian tree", "W, (ε, δ)"),
		plotted("Γ", "Γ tree", "W, ε"),
	},
	Columns: windowColumns(),
	Steps:   20_000, Short: 500, Seeds: 10,
	Sweeps: [2]Sweep{
		{Name: "dimension d, at W = 1024 and ε = 30", Columns: []int{0, 1, 2}, At: []float64{10, 40, 160}},
		{Name: "window W in steps, at d = 10 and ε = 30", Columns: []int{3, 0, 4}, At: []float64{64, 1024, 16_384}},
	},
	Play: playWindows,
	Notes: []string{
		"½|x − z|², simplex of d, µ = 1, L = √2, δ = 1e-6, under exchange of one event for any other; no start regulariser.",
		"Theorem 3 (Γ noise): regret grows at most as d·(log W)^1.5/ε.",
		"Theorem 4 (Gaussian noise): regret grows at most as √d·(log W)^1.5/ε, here as √d·log W/ε.",
		"From d = 10 to 40 the first bound grows 4 times, and the second 2 times.",
		"From W = 64 to 16 384, (log W)^1.5 grows 3.6 times, and log W 2.3 times.",
		"No privacy: the same code at ε = 10⁹.",
	},
}

// setting holds the parameters of a column.
type setting struct {
	dimension, window int
	epsilon           float64
}

// windowSettings has the setting of each column. Each differs from the first by one number.
var windowSettings = []setting{
	{10, 1024, 30}, {40, 1024, 30}, {160, 1024, 30}, {10, 64, 30}, {10, 16_384, 30}, {10, 1024, 10}, {10, 1024, 3},
}

func windowColumns() (columns []Column) {
	for _, s := range windowSettings {
		name := fmt.Sprintf("d = %d, W = %d, ε = %g", s.dimension, s.window, s.epsilon)
		columns = append(columns, Column{Name: name, Text: name})
	}
	return columns
}

// windowMechanisms has the mechanism of each row.
var windowMechanisms = []string{"tree-gaussian", "blt", "tree-gaussian", "tree-gamma"}

func playWindows(ctx context.Context, c Cell) ([]Point, error) {
	s, t := windowSettings[c.Column], Targets(windowSettings[c.Column].dimension)
	o := opening{task: t, epsilon: s.epsilon, steps: c.Steps, key: keyOf("window", c)}
	if c.Row == 0 {
		o.epsilon = public
	}
	l, err := cocoOf("projection", windowMechanisms[c.Row], "ORIEL_WINDOW="+strconv.Itoa(s.window))(o)
	if err != nil {
		return nil, err
	}
	return play(ctx, t, l, c)
}
