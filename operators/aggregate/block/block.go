package block

import (
	"errors"
	"fmt"
	"math"
)

// MaxBins bounds the table of coefficients.
const MaxBins = 1024

// Block is the columns of one cell, in this order: count, sum of values, sum of x² − ½, and one for each bin. A column
// whose weight is 0 does not exist. Weights are public; a larger one buys accuracy for its column at the cost of the
// others.
type Block struct {
	Count    float64 // a, loss units, ≥ 0
	Mean     float64 // b, loss units, ≥ 0
	Square   float64 // c, loss units, ≥ 0
	Bins     int     // m, 2 to MaxBins, or 0 with Quantile 0
	Quantile float64 // w, loss units, ≥ 0

	// Histogram says that a column of bins counts the events of its own bin. Its ℓ1 norm is 1, and that of a column of R
	// is 9 for 64 bins. In ℓ2 columns of R have less noise.
	Histogram bool
}

// Size returns the coordinates of a cell.
func (b Block) Size() int {
	n := b.bins()
	for _, weight := range [...]float64{b.Count, b.Mean, b.Square} {
		if weight > 0 {
			n++
		}
	}
	return n
}

// bins returns the number of bins, or 0 if the block has no columns of bins.
func (b Block) bins() int {
	if !(b.Quantile > 0) {
		return 0
	}
	return min(max(b.Bins, 0), MaxBins)
}

// Validate reports every problem at once.
func (b Block) Validate() error {
	var errs []error
	some := false
	for _, row := range []struct {
		name   string
		weight float64
	}{{"count", b.Count}, {"mean", b.Mean}, {"square", b.Square}, {"quantile", b.Quantile}} {
		if !(row.weight == 0 || row.weight >= 0x1p-20 && row.weight <= 0x1p20) {
			errs = append(errs, fmt.Errorf("block: weight of %s %g: not 0, nor in [2^-20, 2^20]", row.name, row.weight))
		}
		some = some || row.weight > 0
	}
	if !some {
		errs = append(errs, errors.New("block: all weights are 0"))
	}
	if b.Quantile > 0 && (b.Bins < 2 || b.Bins > MaxBins) {
		errs = append(errs, fmt.Errorf("block: %d bins: not in [2, %d]", b.Bins, MaxBins))
	}
	if b.Quantile == 0 && b.Bins != 0 {
		errs = append(errs, fmt.Errorf("block: %d bins without a weight of quantiles", b.Bins))
	}
	return errors.Join(errs...)
}

// Norm returns the largest norm of a cell's columns at weight 1, in loss units: √(a² + b² + c²/4 + w²·Σ_{k<m} r_k²),
// for a histogram without the sum.
func (b Block) Norm() float64 {
	sum := float64(b.Count*b.Count) + float64(b.Mean*b.Mean) + float64(b.Square*b.Square)/4
	if b.Histogram {
		sum += float64(b.Quantile * b.Quantile)
	} else if b.bins() > 0 {
		sum += float64(float64(b.Quantile*b.Quantile) * Energy(b.Reading()))
	}
	return math.Sqrt(sum)
}
