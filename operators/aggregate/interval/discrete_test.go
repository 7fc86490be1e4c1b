package interval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/operators/aggregate/interval"
)

// TestDiscreteCountsCoverExactly computes the coverage of the interval of a count from the law itself. It must be at
// least 95 %, with no shorter interval of whole numbers that reaches this; at r = 1 it is [y − 3, y + 2] with 95.02 %.
func TestDiscreteCountsCoverExactly(t *testing.T) {
	for _, r := range []float64{0.001, 0.01, 0.1, 0.25, 0.5, 0.7, 1, 1.4, 2, 3, 5, 30} {
		q := math.Exp(-r)
		deviation := math.Sqrt(2*q) / (1 - q)
		if got := interval.DiscreteDeviation(math.Sqrt2 / r); math.Abs(got/deviation-1) > 1e-12 {
			t.Errorf("r = %g: deviation %g, want %g", r, got, deviation)
		}
		x := interval.Discrete(1000, deviation)
		below, above := 1000-x.Low, x.High-1000
		covers := func(below, above float64) float64 { return 1 - (math.Pow(q, below+1)+math.Pow(q, above+1))/(1+q) }
		if below != math.Trunc(below) || above < 0 || below-above > 1 || covers(below, above) < 0.95-1e-9 {
			t.Errorf("r = %g: %+v covers %g", r, x, covers(below, above))
		}
		for a := 0.0; a < below+above; a++ {
			if covers(a, below+above-1-a) >= 0.95+1e-9 {
				t.Errorf("r = %g: %+v, but [%g, %g] covers %g", r, x, a, below+above-1-a, covers(a, below+above-1-a))
			}
		}
		if r == 1 && (x != (interval.Interval{Low: 997, High: 1002}) || math.Abs(covers(3, 2)-0.9502) > 5e-5) {
			t.Errorf("at r = 1: %+v, covers %g", x, covers(3, 2))
		}
	}
	if x := interval.Discrete(7, interval.DiscreteDeviation(interval.Almost)); x != (interval.Interval{Low: 7, High: 7}) {
		t.Errorf("almost without noise: %+v", x)
	}
}

// tail returns P(|Σ a_i·L_i| > t) for independent Laplace draws of scales a_i, all different: the partial fractions of
// the characteristic function Π 1/(1 + a_i²θ²).
func tail(scales []float64, t float64) float64 {
	sum := 0.0
	for i, a := range scales {
		weight := math.Exp(-t / a)
		for j, b := range scales {
			if j != i {
				weight *= a * a / (a*a - b*b)
			}
		}
		sum += weight
	}
	return sum
}

// TestOneLaplaceDrawIsTheWorst checks the claim of Law: a sum of independent Laplace draws is beyond z of its standard
// deviations at most as often as one draw. It searches sums of up to six draws.
func TestOneLaplaceDrawIsTheWorst(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 9))
	for range 20000 {
		scales, square := make([]float64, 1+rng.IntN(6)), 0.0
		for i := range scales {
			scales[i] = math.Pow(rng.Float64(), 3) + 1e-3*float64(i+1)
			square += 2 * scales[i] * scales[i]
		}
		for level, z := range map[float64]float64{
			0.05: interval.Laplace.Z95, 0.045: 2.192803740340381, 0.005: 3.7464761387645674,
		} {
			if got := tail(scales, z*math.Sqrt(square)); got > level*(1+1e-6) && !close(scales) {
				t.Fatalf("scales %g: beyond %g deviations with probability %g, above %g", scales, z, got, level)
			}
		}
		if len(scales) == 2 && !close(scales) {
			at := interval.LaplaceSum(-1, scales[0]*math.Sqrt2, scales[1], false)
			if got := tail(scales, at); math.Abs(got-0.05) > 1e-6 {
				t.Fatalf("scales %g: the sum is beyond its quantile with probability %g", scales, got)
			}
		}
	}
	for what, x := range map[string][3]float64{
		"one draw": {0, 1, math.Log(20)}, "equal draws": {1, 1, 4.1126},
	} {
		if got := interval.LaplaceSum(x[0], math.Sqrt2*x[1], 1, false); math.Abs(got-x[2]) > 2e-3 {
			t.Errorf("%s: %g, want %g", what, got, x[2])
		}
	}
}

// TestSumsOfWholeNumbersAndLaplaceDrawsCover compares LaplaceSum with simulated sums of a discrete and a continuous
// draw: both are in 95 % of cases within it.
func TestSumsOfWholeNumbersAndLaplaceDrawsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 11))
	for _, r := range []float64{0.05, 0.2, 1, 2.77, 8} {
		for _, unit := range []float64{0, 0.3, -1, 4} {
			within, deviation := 0.0, interval.DiscreteDeviation(math.Sqrt2/r)
			half := interval.LaplaceSum(unit, deviation, 1, true)
			for range runs {
				whole := math.Floor(rng.ExpFloat64()/r) - math.Floor(rng.ExpFloat64()/r) // geometrics: a discrete Laplace draw
				if math.Abs(unit*whole+rng.ExpFloat64()-rng.ExpFloat64()) <= half {
					within++
				}
			}
			if share := within / runs; math.Abs(share-0.95) > 6.11*math.Sqrt(0.95*0.05/runs) {
				t.Errorf("r = %g, unit %g: %.4f within %g", r, unit, share, half)
			}
		}
	}
}

// close reports whether two scales are so near that partial fractions lose digits.
func close(scales []float64) bool {
	for i, a := range scales {
		for _, b := range scales[:i] {
			if math.Abs(a/b-1) < 0.02 {
				return true
			}
		}
	}
	return false
}

// TestRatiosOfLaplaceNoiseCover checks that intervals of means, variances and differences cover their truth at least as
// often as stated, and of many events in 95 to 96.5 %.
func TestRatiosOfLaplaceNoiseCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 10))
	draw := func(x, deviation float64) interval.Noisy {
		noise := rng.ExpFloat64() - rng.ExpFloat64()
		return interval.Noisy{Value: x + noise*deviation/math.Sqrt2, Deviation: deviation}
	}
	const spread = 6.11 / 200 / 4.58 // √(0.95·0.05/40000)·6.11
	for _, n := range []float64{0, 300, 2000, 50000} {
		for _, truth := range [][2]float64{{0, 0.5}, {0.9, 0.1}, {-0.5, 0.4}, {0.3, 0.2}} {
			mean, variance := truth[0], truth[1]
			var means, variances, differences float64
			for range runs {
				count, sum, square := draw(n, 20), draw(n*mean, 20), draw(n*(variance+mean*mean-0.5), 20)
				if has(interval.Mean(sum, count, interval.Laplace.Z95), mean) {
					means++
				}
				if has(interval.Variance(square, sum, count, interval.Laplace), variance) {
					variances++
				}
				first, second := interval.MeanOf(sum, count, interval.Laplace.Z95),
					interval.MeanOf(draw(n*0.1, 20), draw(n, 20), interval.Laplace.Z95)
				if has(difference(first, second), mean-0.1) {
					differences++
				}
			}
			for what, hits := range map[string]float64{"mean": means, "variance": variances, "difference": differences} {
				if share := hits / runs; share < 0.95-spread || n > 5000 && share > 0.966+spread {
					t.Errorf("%s of %g events, mean %g, variance %g: covers %.4f", what, n, mean, variance, share)
				}
			}
		}
	}
}
