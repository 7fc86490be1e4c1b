package frontier

import (
	"fmt"
	"math/big"
	"math/bits"

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

// tableOf returns the rows for all windows, and for m = blt.MinPoles … blt.MaxPoles within each. It fits each filter, which takes
// some milliseconds a row.
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
