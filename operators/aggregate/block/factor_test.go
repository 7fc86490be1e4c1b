package block_test

import (
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/operators/aggregate/block"
)

// TestCoefficientsAreTheNearestDyadics checks the coefficients against the exact fractions C(2k, k)/4^k, rounded to 30
// bits.
func TestCoefficientsAreTheNearestDyadics(t *testing.T) {
	exact := big.NewRat(1, 1)
	half := big.NewRat(1, 1<<31)
	for k := range block.MaxBins {
		if k > 0 {
			exact.Mul(exact, big.NewRat(int64(2*k-1), int64(2*k)))
		}
		away := new(big.Rat).SetFloat64(block.Coefficient(k))
		if away.Sub(away, exact).Abs(away).Cmp(half) > 0 {
			t.Errorf("coefficient %d: %g", k, block.Coefficient(k))
		}
	}
}

// TestCumulateCounts checks that Cumulate turns the columns of an event's bin into a count of one in that bin and in
// all later ones.
func TestCumulateCounts(t *testing.T) {
	const m = 300
	columns, counts := make([]float64, m), make([]float64, m)
	for bin := range 2 * m {
		b := block.Block{Bins: m, Quantile: 1, Histogram: bin >= m}
		bin %= m
		clear(columns)
		columns[bin] = 1
		for i := bin; i < m && !b.Histogram; i++ {
			columns[i] = block.Coefficient(i - bin)
		}
		block.Cumulate(counts, columns, b.Reading())
		for i, got := range counts {
			want := 0.0
			if i >= bin {
				want = 1
			}
			if math.Abs(got-want) > 1e-7 {
				t.Fatalf("an event in bin %d counts %g in bin %d", bin, got, i)
			}
		}
	}
}

// TestCovarianceOfCumulate checks that Energy is the variance, and Covariance the covariance, of the counts that
// Cumulate makes from independent noise.
func TestCovarianceOfCumulate(t *testing.T) {
	const m = 20
	reading := block.Block{Bins: m, Quantile: 1}.Reading()
	var rows [m][m]float64
	for j := range m {
		columns, counts := make([]float64, m), make([]float64, m)
		columns[j] = 1
		block.Cumulate(counts, columns, reading)
		for i := range m {
			rows[i][j] = counts[i]
		}
	}
	for i := range m {
		for j := range m {
			want := 0.0
			for k := range m {
				want += rows[i][k] * rows[j][k]
			}
			if got := block.Covariance(reading, i, j); math.Abs(got-want) > 1e-12 {
				t.Errorf("covariance of %d and %d: %g, want %g", i, j, got, want)
			}
		}
		if got := block.Energy(reading[:i+1]); math.Abs(got-block.Covariance(reading, i, i)) > 1e-12 {
			t.Errorf("energy of %d: %g", i+1, got)
		}
	}
}

// TestDeviationsOfQuantiles checks Deviations against combinations of the rows of Cumulate.
func TestDeviationsOfQuantiles(t *testing.T) {
	const m, level = 9, 0.3
	reading := block.Block{Bins: m, Quantile: 1}.Reading()
	var squares, got [m]float64
	for j := range m {
		columns, counts := make([]float64, m), make([]float64, m)
		columns[j] = 1
		block.Cumulate(counts, columns, reading)
		for i := range m {
			d := counts[i] - level*counts[m-1]
			squares[i] += d * d
		}
	}
	block.Deviations(got[:], reading, level)
	for i, square := range squares {
		if math.Abs(got[i]-math.Sqrt(square)) > 1e-12 {
			t.Errorf("deviation %d: %g, want %g", i, got[i], math.Sqrt(square))
		}
	}
}

// These figures justify the choice of columns. They are computed by sums in plain floating point. Each is the variance
// of the last running count of 512 bins times a squared distance of contributions: 9.31 from zero, 18.63 between two
// cells, and 15.20 within one cell.
func TestVarianceOfQuantileColumns(t *testing.T) {
	f := func(cells int, wantReplace, wantZero float64) {
		t.Helper()
		h := block.OneHot{Block: block.Block{Bins: 512, Quantile: 1}, Cells: cells, Weight: 1}
		g, err := lattice.NewGrid(h.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		replace, zeroOut := claims(t, g, h)
		unit := g.Unit() * g.Unit() * block.Energy(h.Reading())
		if math.Abs(float64(replace)*unit-wantReplace) > 1e-3 || math.Abs(float64(zeroOut)*unit-wantZero) > 1e-3 {
			t.Errorf("%d cells: %g and %g, want %g and %g", cells, float64(replace)*unit, float64(zeroOut)*unit, wantReplace,
				wantZero)
		}
	}
	f(1, 15.202694, 9.313733)
	f(2, 18.627465, 9.313733)
}

// TestHistogramsForAbsoluteNoise compares the deviations of the test of a median, the distance times Deviations in the
// middle, of 64 bins. Under the ℓ1 norm a histogram has less noise, under the ℓ2 norm columns of R.
func TestHistogramsForAbsoluteNoise(t *testing.T) {
	const m = 64
	noise := func(histogram bool) (one, two float64) {
		h := block.OneHot{Block: block.Block{Bins: m, Quantile: 1, Histogram: histogram}, Cells: 2, Weight: 1}
		g, err := lattice.NewGrid(h.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		deviations := make([]float64, m)
		block.Deviations(deviations, h.Reading(), 0.5)
		_, absolute := h.AbsoluteDistances(g)
		_, square := claims(t, g, h)
		at := deviations[m/2-1] * g.Unit()
		return at * float64(absolute), at * math.Sqrt(float64(square))
	}
	one, two := noise(false)
	plainOne, plainTwo := noise(true)
	for _, x := range [][2]float64{{one, 13.378}, {plainOne, 4}, {two, 2.295}, {plainTwo, 4}} {
		if math.Abs(x[0]-x[1]) > 0.01*x[1] {
			t.Errorf("%g, want %g", x[0], x[1])
		}
	}
}
