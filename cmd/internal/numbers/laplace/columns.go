package laplace

import "math"

// Steps is N steps of once-laplace, with the deviations of the noise of a count and of a sum of values. A count has
// Draws draws a step: one, or one in each bin if bins are its columns. They are whole numbers unless Fractions.
type Steps struct {
	N, Count, Value, Draws float64
	Fractions              bool
}

// combined returns the law of n times the counts and x times the sums of values.
func combined(steps []Steps, n, x float64) (s Sum) {
	for _, d := range steps {
		if a := math.Abs(n); a > 0 && d.Fractions {
			s = append(s, Draws{N: d.N * d.Draws, Deviation: a * d.Count})
		} else if a > 0 {
			s = append(s, Draws{N: d.N * d.Draws, Deviation: d.Count, Unit: a})
		}
		if b := x * d.Value; b > 0 {
			s = append(s, Draws{N: d.N, Deviation: b})
		}
	}
	return s
}

// Counts returns the window [−below, above] of the noise of counts.
func Counts(steps []Steps) (below, above float64) {
	s := combined(steps, 1, 0)
	for _, d := range steps {
		if d.Fractions {
			half := s.Half()
			return half, half
		}
	}
	return s.Whole()
}

// Sums returns half of the length of the interval of n times the counts and x times the sums of values.
func Sums(steps []Steps, n, x float64) float64 { return combined(steps, n, x).Half() }

// Means computes quantiles of a mean at mostMeans means at most, with deviations that grow by a factor of 1 + growth.
const growth, mostMeans = 0.01, 512

// Means returns z such that S − m·N is noise of at most z deviations with a probability of at least 95 %, for every
// mean m in [−1, 1], N counts and S sums of values. Fieller's interval of S/N asks so.
//
// Let q(m) be the quantile of |S − m·N| and d(m) its deviation. Both do not fall in |m|. For d it is plain. For q,
// P(|S − c| ≤ t) falls in |c|, because S has a symmetric density that falls on both sides (it is a convolution of
// log-concave ones; T. W. Anderson, The integral of a symmetric unimodal function, Proc. Amer. Math. Soc. 6 (1955)); so
// the mean of P(|S − m·N| ≤ t | N) falls in |m|. Therefore z = max q(m_{i+1})/d(m_i) is enough for means m_0 = 0 < m_1
// < … = 1. They are chosen so that d grows by one factor from each to the next, by which z is too large at most.
func Means(steps []Steps) (z float64) {
	least, most := combined(steps, 0, 1).Deviation(), combined(steps, 1, 1).Deviation()
	means := int(max(1, min(mostMeans, math.Ceil(math.Log(most/least)/growth))))
	for i := range means {
		at := func(i int) float64 { return least * math.Pow(most/least, float64(i)/float64(means)) }
		m := 1.0
		if up := at(i + 1); i+1 < means {
			m = math.Sqrt(max(0, up*up-least*least) / (most*most - least*least))
		}
		if s := combined(steps, m, 1); !s.has(z * at(i)) {
			z = s.Half() / at(i)
		}
	}
	return z
}

// Columns returns z of one column: a sum of as many continuous draws. Sums of columns with any factors have no more
// draws beyond z deviations (TestOneColumnIsTheWorst).
func Columns(steps []Steps) float64 {
	s := combined(steps, 0, 1)
	return s.Half() / s.Deviation()
}
