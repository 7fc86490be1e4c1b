package papers

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
)

// TableRow compares one filter of age weight 0 with the optimum and the window tree, at equal µ(W). Variances are for
// one coordinate of a release in units (Δ/µ(W))², rounded up except for Optimum. They leave out η, which depends on Δ
// and n.
type TableRow struct {
	Window    uint64  // W, steps
	Poles     int     // m, number of poles
	Variance  float64 // Σb²·Σ_{j<W}d², certified upper bound
	Optimum   float64 // S_W², rounded down
	Ratio     float64 // Variance / Optimum
	TreeMean  float64 // variance of tree-gaussian with W rounded up to a power of two, averaged over a block
	TreeWorst float64 // variance of tree-gaussian at its worst position in a block
}

// FrontierRow is one compromise between the variance of a release and the growth of the loss with age. Figures are
// certified, rounded up, without η.
type FrontierRow struct {
	Weight                      float64 // age weight w
	Ratio                       float64 // Σb²·Σ_{j<W}d² / S_W²
	Two, Ten, Hundred, Thousand float64 // µ(2W), µ(10W), µ(100W), µ(1000W), each divided by µ(W)
}

// tableOf returns the rows for all windows, and for m = blt.MinPoles … blt.MaxPoles within each. It fits each filter,
// which takes some milliseconds a row.
func tableOf(windows []uint64) ([]TableRow, error) {
	var rows []TableRow
	for _, window := range windows {
		for poles := blt.MinPoles; poles <= blt.MaxPoles; poles++ {
			r, err := fittedResponse(window, 0, poles)
			if err != nil {
				return nil, err
			}
			mean, worst := treeVariance(window)
			rows = append(rows, TableRow{
				Window: window, Poles: poles,
				Variance: r.Variance(window), Optimum: blt.Optimum(window), Ratio: ratio(r, window),
				TreeMean: mean, TreeWorst: worst,
			})
		}
	}
	return rows, nil
}

// compromises returns a row for each age weight: the figures of blt.Fit(window, weight, poles).
func compromises(window uint64, poles int, weights []float64) ([]FrontierRow, error) {
	var rows []FrontierRow
	for _, weight := range weights {
		r, err := fittedResponse(window, weight, poles)
		if err != nil {
			return nil, err
		}
		rows = append(rows, FrontierRow{
			Weight: weight, Ratio: ratio(r, window),
			Two: r.Growth(window, 2), Ten: r.Growth(window, 10),
			Hundred: r.Growth(window, 100), Thousand: r.Growth(window, 1000),
		})
	}
	return rows, nil
}

func fittedResponse(window uint64, weight float64, poles int) (*blt.Response, error) {
	f, err := blt.Fit(window, weight, poles)
	if err != nil {
		return nil, err
	}
	r, err := blt.NewResponse(f)
	if err != nil {
		return nil, fmt.Errorf("frontier: window %d, age weight %g, %d poles: %w", window, weight, poles, err)
	}
	return r, nil
}

// ratio returns Σb²·Σ_{j<W}d²/S_W², rounded up.
func ratio(r *blt.Response, window uint64) float64 {
	return dp.RoundUp(dp.Float().Quo(dp.Exact(r.Variance(window)), dp.Exact(blt.Optimum(window))))
}

// treeVariance returns the mean and the largest variance of tree-gaussian in units (Δ/µ)²: σ² = h·(Δ/µ)² a node, h =
// L+1 with W = 2^L. At position p < W of a block the nodes of [1, p] and of [p+1, W] number L + 1 minus the trailing
// zero bits of p, and at p = W there is one. Their average is L + 1/W.
func treeVariance(window uint64) (mean, worst float64) {
	levels := bits.Len64(window - 1)
	h := float64(levels + 1)
	block := new(big.Float).SetMantExp(big.NewFloat(1), -levels)
	block.Add(block, big.NewFloat(float64(levels)))
	return dp.RoundUp(block.Mul(block, big.NewFloat(h))), float64(h * h)
}

// TestVarianceOfFilters checks the variances, in units (Δ/µ)², at age weight 0, against S_W² and the tree. Directed
// rounding certifies them: m = 4 is within a factor 1.02 of the optimum from W = 27 to 2¹⁶ and beyond.
func TestVarianceOfFilters(t *testing.T) {
	want := []struct {
		window              uint64
		optimum             float64
		m2, m3, m4          float64
		within              float64 // largest ratio to the optimum, certified at m = 4
		treeMean, treeWorst float64
	}{
		{16, 3.778, 3.883, 3.883, 3.861, 1.022, 20.32, 25},
		{64, 5.706, 5.836, 5.835, 5.811, 1.0183, 42.11, 49},
		{256, 8.014, 8.211, 8.167, 8.149, 1.0167, 72.04, 81},
		{1024, 10.709, 11.148, 10.896, 10.885, 1.0164, 110.02, 121},
		{4096, 13.792, 14.859, 14.070, 13.996, 1.0148, 156.01, 169},
		{16384, 17.265, 19.627, 17.774, 17.520, 1.0147, 210.01, 225},
		{65536, 21.127, 25.817, 22.133, 21.495, 1.0174, 272.01, 289},
		{1 << 20, 30.019, 44.528, 33.493, 31.077, 1.0353, 420.01, 441},
	}
	var windows []uint64
	for _, row := range want {
		windows = append(windows, row.window)
	}
	rows, err := tableOf(windows)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3*len(want) {
		t.Fatalf("%d rows for %d windows", len(rows), len(want))
	}
	for i, got := range rows {
		row := want[i/3]
		t.Logf("%+v", got)
		if got.Window != row.window || got.Poles != blt.MinPoles+i%3 || got.Optimum != blt.Optimum(row.window) {
			t.Fatalf("row %d: %+v", i, got)
		}
		near := func(what string, x, y float64) {
			t.Helper()
			if x > y || x < y-0.011 {
				t.Errorf("W=%d m=%d: %s %.5f, want %g", got.Window, got.Poles, what, x, y)
			}
		}
		near("variance", got.Variance, []float64{row.m2, row.m3, row.m4}[i%3])
		near("optimum", got.Optimum, row.optimum+0.001)
		near("mean of the tree", got.TreeMean, row.treeMean)
		near("worst of the tree", got.TreeWorst, row.treeWorst)
		if got.Poles == 4 && (got.Ratio > row.within || 9*got.Variance > got.TreeMean && row.window >= 1024) {
			t.Errorf("W=%d: variance %g is %g of the optimum, and of the tree's %g", got.Window, got.Variance, got.Ratio,
				got.TreeMean)
		}
		if low := got.Variance / got.Optimum; math.Abs(got.Ratio-low) > 1e-15*low {
			t.Errorf("W=%d m=%d: ratio %g of %g and %g", got.Window, got.Poles, got.Ratio, got.Variance, got.Optimum)
		}
	}
}

// TestTreeVarianceCountsNodes computes the tree's variance by counting the nodes of its decompositions.
func TestTreeVarianceCountsNodes(t *testing.T) {
	for _, window := range []uint64{1, 2, 8, 1024, 1 << 16} {
		h, sum, most := bits.Len64(window), 0, 0
		for p := uint64(1); p <= window; p++ {
			active := bits.OnesCount64(p) + bits.OnesCount64(window-p)
			sum, most = sum+active, max(most, active)
		}
		mean, worst := treeVariance(window)
		if want := float64(h) * float64(sum) / float64(window); math.Abs(mean-want) > 1e-12*want || mean < want {
			t.Errorf("W=%d: mean %g, want %g", window, mean, want)
		}
		if want := float64(h * most); worst != want {
			t.Errorf("W=%d: worst %g, want %g", window, worst, want)
		}
	}
	if mean, worst := treeVariance(1000); worst != 121 || mean < 110 || mean > 110.1 {
		t.Errorf("W=1000: %g, %g, want the tree of 1024", mean, worst)
	}
}

// TestAgeingOfFilters checks the trade-off between variance and growth of the loss with age at W = 1 024, m = 4, and
// the documented figures of the default weight 0.3.
func TestAgeingOfFilters(t *testing.T) {
	want := []FrontierRow{
		{0, 1.016, 1.092, 1.654, 4.483, 13.919},
		{0.3, 1.084, 1.055, 1.238, 2.237, 6.301},
		{0.6, 1.153, 1.042, 1.157, 1.874, 5.025},
		{1, 1.237, 1.033, 1.109, 1.662, 4.250},
	}
	var weights []float64
	for _, row := range want {
		weights = append(weights, row.Weight)
	}
	rows, err := compromises(1024, 4, weights)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range rows {
		row := want[i]
		t.Logf("%+v", got)
		for k, x := range [][2]float64{
			{got.Weight, row.Weight}, {got.Ratio, row.Ratio}, {got.Two, row.Two}, {got.Ten, row.Ten}, {
				got.Hundred,
				row.Hundred,
			}, {got.Thousand, row.Thousand},
		} {
			if math.Abs(x[0]-x[1]) > 0.003 {
				t.Errorf("w=%g: figure %d is %.4f, want %g", row.Weight, k, x[0], x[1])
			}
		}
		if row.Weight == 0.3 && (got.Ratio > 1.10 || got.Hundred > 2.3) {
			t.Errorf("default weight: variance %g of the optimum, µ(100W) %g", got.Ratio, got.Hundred)
		}
	}
	if rows, err := compromises(1024, 5, weights); err == nil {
		t.Errorf("five poles: %v", rows)
	}
	if rows, err := tableOf([]uint64{0}); err == nil {
		t.Errorf("window 0: %v", rows)
	}
}
