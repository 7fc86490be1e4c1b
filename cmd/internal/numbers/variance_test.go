package numbers

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/aggregate/interval"
)

// TestIntervalsOfAVarianceCoverWhereSurfacesBend checks that each side of an interval misses the true variance in 2.5 %
// of cases. If surfaces bend by more than a deviation, a mean of 0 is a vertex of the surface; hardly any point is
// above it, so that one side misses less often. The number of misses exceeds its mean by more than 6.11 standard errors
// with a probability of 10⁻⁹.
func TestIntervalsOfAVarianceCoverWhereSurfacesBend(t *testing.T) {
	n := tiertest.Runs(1500, 20000)
	half := 0.025 * float64(n)
	most, least := half+6.11*math.Sqrt(half), half-6.11*math.Sqrt(half)
	for _, c := range []struct {
		count, n, s, q, mean, variance float64
		vertex                         bool
	}{
		{100, 1, 1, 1, 0.3, 0.4, false},
		{60, 1, 4, 1, 0, 0.4, false},
		{300, 1, 20, 1, 0, 0.4, true},
	} {
		random := rand.New(rand.NewPCG(5, 6))
		noisy := func(x, deviation float64) interval.Noisy {
			return interval.Noisy{Value: x + deviation*random.NormFloat64(), Deviation: deviation}
		}
		low, high := 0, 0
		for range n {
			p := point{noisy(c.count, c.n), noisy(c.count*c.mean, c.s), noisy(c.count*(c.mean*c.mean+c.variance-0.5), c.q)}
			if x := p.variance(interval.Normal, interval.Z95); x.Low > c.variance {
				low++
			} else if x.High < c.variance {
				high++
			}
		}
		t.Logf("%+v: of %d intervals %d are below and %d above", c, n, high, low)
		if float64(high) > most || float64(high) < least || float64(low) > most || !c.vertex && float64(low) < least {
			t.Errorf("%+v: of %d intervals %d are below and %d above, want %.0f to %.0f", c, n, high, low, least, most)
		}
	}
}

// TestRootIsTheDistance checks that r, which is r* without its modification, is the distance to the nearest point of a
// variance, found on a grid of counts and means.
func TestRootIsTheDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		p := point{
			interval.Noisy{Value: 40 + 5*random.NormFloat64(), Deviation: 1},
			interval.Noisy{Value: 20 * random.NormFloat64(), Deviation: 0.5 + random.Float64()},
			interval.Noisy{Value: 5 * random.NormFloat64(), Deviation: 0.5 + random.Float64()},
		}
		for _, v := range []float64{0.1, 0.4, 0.8} {
			nearest := math.Inf(1)
			for m := -1.0; m <= 1; m += 1.0 / 512 {
				for n := 1.0; n < 80; n += 1.0 / 4 {
					a := (p.count.Value - n) / p.count.Deviation
					b := (p.sum.Value - n*m) / p.sum.Deviation
					c := (p.square.Value - n*(m*m+v-0.5)) / p.square.Deviation
					nearest = min(nearest, a*a+b*b+c*c)
				}
			}
			r, far := math.Abs(p.root(v)), math.Sqrt(nearest)
			if far > 1 && math.Abs(r-far) > 0.03+1/far {
				t.Errorf("%+v, variance %g: r* is %g, and the nearest point %g away", p, v, r, far)
			}
		}
	}
}
