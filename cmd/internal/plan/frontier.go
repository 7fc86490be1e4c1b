package plan

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/blt"
)

// Frontier is the object that `oriel plan --frontier --json` prints: how good the filters of blt can be. Figures are
// certified in directed rounding and rounded up. They omit η, which depends on clip and dimension and is far below the
// digits shown.
type Frontier struct {
	Window      uint64     `json:"window_steps"`
	Poles       int        `json:"poles"` // number of poles of the compromises; 0: the best number for each
	Filters     []Filter   `json:"filters"`
	Compromises []Tradeoff `json:"compromises"`
}

// Filter compares a filter of age weight 0 with the optimum and the tree: the variance of a coordinate of a release, at
// equal guarantee of one window, in units of (Δ/µ(W))².
type Filter struct {
	Window      uint64  `json:"window_steps"`
	Poles       int     `json:"poles"`
	Variance    float64 `json:"variance"`
	Optimum     float64 `json:"optimum"` // S_W², rounded down
	OverOptimum float64 `json:"variance_over_optimum"`
	TreeMean    float64 `json:"tree_gaussian_variance"` // variance of the tree, whose window is the next power of two
	TreeWorst   float64 `json:"tree_gaussian_worst_variance"`
}

// Tradeoff is a filter of the configured window: its variance, and how µ grows with age.
type Tradeoff struct {
	Weight      float64 `json:"age_weight"`
	Configured  bool    `json:"configured"`
	OverOptimum float64 `json:"variance_over_optimum"`
	Two         float64 `json:"mu_2w_over_mu_w"`
	Ten         float64 `json:"mu_10w_over_mu_w"`
	Hundred     float64 `json:"mu_100w_over_mu_w"`
	Thousand    float64 `json:"mu_1000w_over_mu_w"`
}

var (
	filterWindows = []uint64{1 << 6, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22}
	ageWeights    = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
)

// NewFrontier fits and certifies every filter of the two tables. weight is the configured age weight.
func NewFrontier(window uint64, poles int, weight float64) (*Frontier, error) {
	if window < 1 || window > blt.MaxWindow {
		return nil, fmt.Errorf("plan: frontier: window %d: not one of blt, 1 to %d", window, uint64(blt.MaxWindow))
	}
	windows, weights := with(filterWindows, window), with(ageWeights, weight)
	var filters []blt.TableRow
	var compromises []blt.FrontierRow
	var errFilters, errCompromises error
	var both sync.WaitGroup
	both.Go(func() { filters, errFilters = blt.Table(windows) })
	both.Go(func() { compromises, errCompromises = blt.Frontier(window, poles, weights) })
	both.Wait()
	if errFilters != nil {
		return nil, errFilters
	}
	if errCompromises != nil {
		return nil, errCompromises
	}
	f := &Frontier{Window: window, Poles: poles}
	for _, r := range filters {
		f.Filters = append(f.Filters, Filter{r.Window, r.Poles, r.Variance, r.Optimum, r.Ratio, r.TreeMean, r.TreeWorst})
	}
	for _, r := range compromises {
		f.Compromises = append(f.Compromises, Tradeoff{
			r.Weight, r.Weight == weight, r.Ratio, r.Two, r.Ten, r.Hundred,
			r.Thousand,
		})
	}
	return f, nil
}

// with returns the sorted list with x inserted, if the list does not contain x.
func with[T uint64 | float64](list []T, x T) []T {
	at, found := slices.BinarySearch(list, x)
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), at, x)
}

// Print prints both tables as readable text.
func (f *Frontier) Print(out io.Writer) error {
	var b strings.Builder
	b.WriteString("Variance of a release at equal guarantee of one window, units (Δ/µ(W))²; blt with age weight 0\n")
	g := &grid{}
	head := []string{"W", "optimum"}
	for m := blt.MinPoles; m <= blt.MaxPoles; m++ {
		head = append(head, fmt.Sprintf("blt, m = %d", m), "over it")
	}
	g.add(append(head, "tree-gaussian", "at worst")...)
	width := blt.MaxPoles - blt.MinPoles + 1
	for i := 0; i+width <= len(f.Filters); i += width {
		row := []string{strconv.FormatUint(f.Filters[i].Window, 10), digits.Four(f.Filters[i].Optimum)}
		for _, r := range f.Filters[i : i+width] {
			row = append(row, digits.Upper(r.Variance), digits.Upper(r.OverOptimum))
		}
		g.add(append(row, digits.Upper(f.Filters[i].TreeMean), digits.Upper(f.Filters[i].TreeWorst))...)
	}
	_ = g.print(&b)
	poles := "poles chosen by the window"
	if f.Poles > 0 {
		poles = fmt.Sprintf("%d poles", f.Poles)
	}
	fmt.Fprintf(&b, "\nVariance and ageing, W = %d, %s\n", f.Window, poles)
	g = &grid{}
	g.add("age", "variance over", "µ(2 W)", "µ(10 W)", "µ(100 W)", "µ(1000 W)")
	g.add("weight", "the optimum", "over µ(W)", "", "", "")
	for _, c := range f.Compromises {
		mark := "  "
		if c.Configured {
			mark = "* "
		}
		row := []string{mark + strconv.FormatFloat(c.Weight, 'g', -1, 64)}
		for _, x := range []float64{c.OverOptimum, c.Two, c.Ten, c.Hundred, c.Thousand} {
			row = append(row, digits.Upper(x))
		}
		g.add(row...)
	}
	_ = g.print(&b)
	b.WriteString("\n* configured. Figures but the optimum are rounded up, and certified from the filters' dyadics in directed rounding.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
