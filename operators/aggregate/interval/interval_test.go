package interval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/aggregate/interval"
)

// These are the seed and the number of runs of the simulations. The observed share of a coverage probability p deviates
// by more than 6.11 standard errors √(p(1−p)/runs) with probability 1e-9.
const (
	seed   = 20261123
	runs   = 40000
	errors = 6.11
)

// covers runs a simulation and compares its coverage with the level. Coverage must not be lower and, if tight is set,
// not higher either.
func covers(t *testing.T, what string, tight bool, f func(normal func() float64) bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	hits := 0
	for range runs {
		if f(rng.NormFloat64) {
			hits++
		}
	}
	share, away := float64(hits)/runs, errors*math.Sqrt(0.95*0.05/runs)
	if share < 0.95-away || tight && share > 0.95+away {
		t.Errorf("%s: covers %.4f, seed %d", what, share, seed)
	}
}

func TestQuantileOfTheNormalLaw(t *testing.T) {
	if want := distuv.UnitNormal.Quantile(0.975); math.Abs(interval.Z95-want) > 1e-12 {
		t.Errorf("z = %g, want %g", interval.Z95, want)
	}
}

// noisy returns x plus normal noise of the given deviation.
func noisy(x, deviation float64, normal func() float64) interval.Noisy {
	return interval.Noisy{Value: x + deviation*normal(), Deviation: deviation}
}

// has reports whether a number is in an interval, up to rounding.
func has(i interval.Interval, x float64) bool { return i.Low <= x+1e-9 && x <= i.High+1e-9 }

// in reports whether a number is in a set.
func in(s interval.Set, x float64) bool {
	switch s.Form {
	case interval.Bounded:
		return s.Low <= x && x <= s.High
	case interval.Outside:
		return x <= s.Low || x >= s.High
	default:
		return true
	}
}

// TestMeansCover checks that Fieller's set covers with exactly its level at every truth, also with few events or none.
// The interval that a decision publishes covers no less.
func TestMeansCover(t *testing.T) {
	for _, truth := range []struct{ n, mean float64 }{{0, 0}, {10, 1}, {30, -0.5}, {100, 0.9}, {5000, -1}, {5000, 0.01}} {
		sample := func(normal func() float64) (sum, count interval.Noisy) {
			return noisy(truth.n*truth.mean, 40, normal), noisy(truth.n, 20, normal)
		}
		covers(t, "Fieller", true, func(normal func() float64) bool {
			return in(interval.Ratio(sampled(sample(normal))), truth.mean)
		})
		covers(t, "mean", false, func(normal func() float64) bool {
			return has(interval.Mean(sampled(sample(normal))), truth.mean)
		})
	}
}

func sampled(y, x interval.Noisy) (interval.Noisy, interval.Noisy, float64) {
	return y, x, interval.Z95
}

// TestRatioIsTheInvertedTest checks that a set of each form contains exactly those θ whose test does not reject.
func TestRatioIsTheInvertedTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 2))
	forms := map[interval.Form]int{}
	for range 2000 {
		y, x := noisy(0, 1+2*rng.Float64(), rng.NormFloat64), noisy(2*rng.NormFloat64(), 1, rng.NormFloat64)
		s := interval.Ratio(y, x, interval.Z95)
		forms[s.Form]++
		for range 50 {
			theta := 5 * rng.NormFloat64()
			figure := math.Abs(y.Value-theta*x.Value) - interval.Z95*math.Hypot(y.Deviation, theta*x.Deviation)
			if math.Abs(figure) > 1e-9 && in(s, theta) != (figure < 0) {
				t.Fatalf("%+v over %+v: %g in %+v is %v, its test says %g", y, x, theta, s, in(s, theta), figure)
			}
			if i := s.Within(-1, 1); math.Abs(theta) <= 1 && figure < -1e-9 && !has(i, theta) {
				t.Fatalf("%+v within the range is %+v, without %g", s, i, theta)
			}
		}
	}
	if len(forms) != 3 {
		t.Errorf("forms seen: %v", forms)
	}
}

// TestVariancesCover checks that intervals of variances cover every truth, and that they are not too long.
func TestVariancesCover(t *testing.T) {
	for _, truth := range []struct{ n, mean, variance float64 }{
		{0, 0, 0},
		{20, 0.5, 0.2},
		{300, 0, 1},
		{300, 1, 0},
		{1000, -1, 0},
		{5000, 0, 1},
		{5000, 0.9, 0.001},
		{5000, -0.5, 0.4},
		{100000, 0.2, 0.5},
	} {
		length := 0.0
		covers(t, "variance", false, func(normal func() float64) bool {
			n := truth.n
			square := noisy(n*(truth.variance+truth.mean*truth.mean-0.5), 30, normal)
			i := interval.Variance(square, noisy(n*truth.mean, 40, normal), noisy(n, 20, normal), interval.Normal)
			length += (i.High - i.Low) / runs
			return has(i, truth.variance)
		})
		w := truth.mean*truth.mean + 0.5 - truth.variance
		first := 2 * 1.96 * math.Sqrt(30*30+4*truth.mean*truth.mean*40*40+w*w*20*20) / truth.n
		// At variance 1 some sets are empty, and the interval is the range.
		if truth.n >= 5000 && truth.variance < 1 && length > 1.15*first {
			t.Errorf("%+v: length %g, to the first order %g", truth, length, first)
		}
	}
}

// TestVariancesOfManyEventsCoverExactly checks intervals of shown variances that are not at an end of their range.
// These intervals must cover with exactly their level, for several choices of weights. Variance must recognise a mean
// with too much noise.
func TestVariancesOfManyEventsCoverExactly(t *testing.T) {
	for i, deviations := range [][3]float64{{20, 20, 20}, {20, 40, 30}, {20, 5, 5}, {20, 20, 200}, {20, 200, 20}} {
		for j, n := range []float64{300, 2000, 50000} {
			for k, truth := range [][2]float64{{0, 0.5}, {0.9, 0.1}, {-0.5, 0.4}, {0.3, 0.2}} {
				if tiertest.Runs((i+j+k)%3 != 0, false) {
					continue // the short form has each pair of deviations, number and truth, but not each combination
				}
				mean, variance := truth[0], truth[1]
				spread := math.Sqrt(deviations[2]*deviations[2] + 4*mean*mean*deviations[1]*deviations[1])
				known := deviations[1]*deviations[1]/n < 0.08*spread && spread/n < 0.02
				covers(t, fmt.Sprint("variance of ", deviations, n, truth), known, func(normal func() float64) bool {
					return has(interval.Variance(noisy(n*(variance+mean*mean-0.5), deviations[2], normal),
						noisy(n*mean, deviations[1], normal), noisy(n, deviations[0], normal), interval.Normal), variance)
				})
			}
		}
	}
}

// TestVarianceCoversTheUnion checks that the union over means is bounded from outside: it contains every v that any
// mean of the set accepts.
func TestVarianceCoversTheUnion(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 3000 {
		n := 200 + 5000*rng.Float64()
		mean := 2*rng.Float64() - 1
		count, sum := noisy(n, 20, rng.NormFloat64), noisy(n*mean, 40+400*float64(rng.IntN(2)), rng.NormFloat64)
		square := noisy(n*(mean*mean+0.3*rng.Float64()-0.5), 30, rng.NormFloat64)
		if sum.Deviation*sum.Deviation < 300*count.Value && count.Shown() {
			continue // Variance uses profile for this truth
		}
		whole := interval.Variance(square, sum, count, interval.Normal)
		means := interval.Ratio(sum, count, 2.807).Within(-1, 1)
		for k := range 200 {
			mu := means.Low + (means.High-means.Low)*float64(k)/199
			g := interval.Noisy{
				Value:     square.Value - 2*mu*sum.Value,
				Deviation: math.Hypot(square.Deviation, 2*mu*sum.Deviation),
			}
			s := interval.Ratio(g, count, 2.0046)
			if low, high := s.Low+mu*mu+0.5, s.High+mu*mu+0.5; s.Form == interval.Bounded &&
				(max(low, 0) < whole.Low-1e-9 || min(high, 1) > whole.High+1e-9) && high > 0 && low < 1 {
				t.Fatalf("%+v: mean %g has %g to %g", whole, mu, low, high)
			}
		}
	}
}

// TestSharesCover checks that intervals of a share cover with exactly their level, also near 0 and 1, and that
// intervals of differences of shares do.
func TestSharesCover(t *testing.T) {
	for _, truth := range []struct{ part, rest float64 }{{400, 0}, {0, 400}, {300, 300}, {30, 2000}, {5000, 100}} {
		sample := func(normal func() float64) interval.Estimate {
			return interval.ShareOf(noisy(truth.part, 10, normal), noisy(truth.rest, 20, normal), interval.Z95)
		}
		want := truth.part / (truth.part + truth.rest)
		covers(t, "share", true, func(normal func() float64) bool { return in(sample(normal).Set, want) })
		covers(t, "difference of shares", false, func(normal func() float64) bool {
			other := interval.ShareOf(noisy(300, 10, normal), noisy(600, 20, normal), interval.Z95)
			return has(difference(sample(normal), other), want-1.0/3)
		})
	}
}

// TestDifferencesCover checks that differences of two arms are covered, for means where both are shown and where one is
// not.
func TestDifferencesCover(t *testing.T) {
	// At deviation 20, a count of 250 is shown in about a third of cases, and a count of 200 hardly ever.
	for _, n := range []float64{100, 200, 250, 400, 3000} {
		for _, means := range [][2]float64{{0.8, -0.5}, {1, 1}, {-1, 1}, {0, 0}, {0.3, 0.2}} {
			covers(t, "means", false, func(normal func() float64) bool {
				return has(difference(interval.MeanOf(noisy(means[0]*n, 40, normal), noisy(n, 20, normal), interval.Z95),
					interval.MeanOf(noisy(means[1]*2*n, 40, normal), noisy(2*n, 20, normal), interval.Z95)), means[0]-means[1])
			})
		}
	}
	covers(t, "means of many events", true, func(normal func() float64) bool {
		return has(difference(interval.MeanOf(noisy(4000, 40, normal), noisy(5000, 20, normal), interval.Z95),
			interval.MeanOf(noisy(-3000, 40, normal), noisy(6000, 30, normal), interval.Z95)), 1.3)
	})
}

// difference returns the interval of a difference.
func difference(first, second interval.Estimate) interval.Interval {
	_, ends := interval.Difference(first, second)
	return ends
}

// TestPlansAreWhatIntervalsHave compares the planned half width with real intervals, in the middle of the range and
// away from it.
func TestPlansAreWhatIntervalsHave(t *testing.T) {
	for _, p := range []interval.MeanPlan{
		{Count: 1, Mean: 1, Range: 240, Events: 30000},
		{Count: 0.3, Mean: 1, Range: 240, Events: 30000},
		{Count: 0.3, Mean: 1, Range: 240, Events: 30000, At: -0.5},
	} {
		const deviation = 18.0
		i := interval.Mean(interval.Noisy{Value: p.Events * p.At, Deviation: deviation / p.Mean},
			interval.Noisy{Value: p.Events, Deviation: deviation / p.Count}, interval.Z95)
		half := (i.High - i.Low) / 2 * p.Range / 2
		if got := p.HalfWidth(deviation, interval.Z95); math.Abs(got/half-1) > 0.001 {
			t.Errorf("%+v: ± %g, its interval has ± %g", p, got, half)
		}
	}
}

// TestPlanOfDelays checks the worked example: delays of −60 to 180 minutes, 3 000 flights, and noise of deviation 17.87
// on a count without other columns, under zero-out. With a = b contributions are √2 times as long as b; with a = 0.3b
// they are √1.09 times.
func TestPlanOfDelays(t *testing.T) {
	const alone = 17.87
	f := func(count, at, want float64) {
		t.Helper()
		p := interval.MeanPlan{Count: count, Mean: 1, Range: 240, Events: 3000, At: at}
		if got := p.HalfWidth(alone*math.Sqrt(1+count*count), interval.Z95); math.Abs(got-want) > 0.015 {
			t.Errorf("a = %g, at %g: ± %.3f, want %g", count, at, got, want)
		}
	}
	f(1, 0, 1.98)
	f(0.3, 0, 1.46)
	f(1, -0.5, 2.215)
	f(0.3, -0.5, 2.84)
}

func TestIntervalsDoNotAllocate(t *testing.T) {
	n, s, q := interval.Noisy{Value: 900, Deviation: 20}, interval.Noisy{
		Value:     300,
		Deviation: 40,
	}, interval.Noisy{Value: -200, Deviation: 30}
	if allocations := testing.AllocsPerRun(100, func() {
		interval.Variance(q, s, n, interval.Normal)
		interval.Mean(s, n, interval.Z95)
		interval.Difference(interval.MeanOf(s, n, interval.Z95), interval.ShareOf(s, n, interval.Z95))
	}); allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func BenchmarkVariance(b *testing.B) {
	n, s, q := interval.Noisy{Value: 900, Deviation: 20}, interval.Noisy{
		Value:     300,
		Deviation: 40,
	}, interval.Noisy{Value: -200, Deviation: 30}
	b.ReportAllocs()
	for b.Loop() {
		interval.Variance(q, s, n, interval.Normal)
	}
}
