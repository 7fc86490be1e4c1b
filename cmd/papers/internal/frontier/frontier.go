package frontier

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/blt"
)

// Frontier has the figures of both tables.
type Frontier struct {
	Window      uint64  // window of the compromises
	Poles       int     // number of poles of the compromises; 0: the best number for each
	Weight      float64 // the age weight that is marked
	Filters     []TableRow
	Compromises []FrontierRow
}

var (
	filterWindows = []uint64{1 << 6, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22}
	ageWeights    = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
)

// New fits and certifies every filter of the two tables, with window and weight among the rows.
func New(window uint64, poles int, weight float64) (*Frontier, error) {
	if window < 1 || window > blt.MaxWindow {
		return nil, fmt.Errorf("frontier: window %d: not one of blt, 1 to %d", window, uint64(blt.MaxWindow))
	}
	f := &Frontier{Window: window, Poles: poles, Weight: weight}
	var errFilters, errCompromises error
	var both sync.WaitGroup
	both.Go(func() { f.Filters, errFilters = tableOf(with(filterWindows, window)) })
	both.Go(func() { f.Compromises, errCompromises = compromises(window, poles, with(ageWeights, weight)) })
	both.Wait()
	if errFilters != nil {
		return nil, errFilters
	}
	if errCompromises != nil {
		return nil, errCompromises
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
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(table, strings.Join(cells, "\t")+"\t") }
	head := []string{"W", "optimum"}
	for m := blt.MinPoles; m <= blt.MaxPoles; m++ {
		head = append(head, fmt.Sprintf("blt, m = %d", m), "over it")
	}
	row(append(head, "tree-gaussian", "at worst")...)
	for filters := range slices.Chunk(f.Filters, blt.MaxPoles-blt.MinPoles+1) {
		cells := []string{strconv.FormatUint(filters[0].Window, 10), digits.Four(filters[0].Optimum)}
		for _, r := range filters {
			cells = append(cells, digits.Upper(r.Variance), digits.Upper(r.Ratio))
		}
		row(append(cells, digits.Upper(filters[0].TreeMean), digits.Upper(filters[0].TreeWorst))...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	poles := "poles chosen by the window"
	if f.Poles > 0 {
		poles = fmt.Sprintf("%d poles", f.Poles)
	}
	fmt.Fprintf(&b, "\nVariance and ageing, W = %d, %s\n", f.Window, poles)
	row("age", "variance over", "µ(2 W)", "µ(10 W)", "µ(100 W)", "µ(1000 W)")
	row("weight", "the optimum", "over µ(W)", "", "", "")
	for _, c := range f.Compromises {
		cells := []string{strconv.FormatFloat(c.Weight, 'g', -1, 64)}
		if c.Weight == f.Weight {
			cells[0] = "* " + cells[0]
		}
		for _, x := range []float64{c.Ratio, c.Two, c.Ten, c.Hundred, c.Thousand} {
			cells = append(cells, digits.Upper(x))
		}
		row(cells...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\n* --age-weight. All figures but the optimum are rounded up, and certified in directed rounding.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
