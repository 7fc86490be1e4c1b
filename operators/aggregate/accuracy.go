package aggregate

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/operators/aggregate/interval"
	"oriel/operators/description"
	"oriel/operators/setting"
)

// fits reports whether the noise of a mechanism is known exactly at every step, as for Gaussian noise that no tree
// adds, and for discrete noise.
func fits(f mechanisms.Facts) bool {
	return f.Normal() && !f.AtNodes() || f.Discrete()
}

// under sets the law of the noise under a mechanism. With discrete noise bins are a histogram, because it has the least
// ℓ1 norm. The weights of counts and of bins then become the nearest multiples of the lattice unit below them, so that
// both are released as whole numbers, exactly up to 2²⁹.
func (s *specification) under(f mechanisms.Facts) {
	s.law, s.weights.Histogram = interval.Normal, f.Discrete() && s.weights.Bins > 0
	if !f.Discrete() {
		return
	}
	s.law = interval.Laplace
	component := s.hot().Component()
	g, err := lattice.NewGrid(component.Clip)
	if err != nil || s.weightMax > 0 {
		return
	}
	steps := component.Steps(g)
	if s.weights.Count > 0 {
		s.weights.Count = float64(float64(steps[0]) * g.Unit())
	}
	if s.weights.Histogram {
		s.weights.Quantile = float64(float64(steps[len(steps)-1]) * g.Unit())
	}
}

// Describe returns how contributions are measured, which mechanisms fit, and how exact the published numbers are under
// a mechanism.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	names := slices.DeleteFunc(mechanisms.Names(), func(name string) bool {
		facts, _ := mechanisms.FactsOf(name)
		return !fits(facts)
	})
	return description.Figures{Distance: c.spec.String(), Mechanisms: names, Precision: c.precision(m)}
}

// precision returns how exact the numbers of the specification are under a mechanism m.
func (c operator) precision(m mechanisms.Config) *description.Precision {
	s := c.spec
	facts, _ := mechanisms.FactsOf(m.Name)
	if s.under(facts); s.weights.Histogram != c.spec.weights.Histogram {
		s.read()
	}
	memory, decays := m.Scope.Memory()
	_, own := c.terms.Scope.Memory() // does the operator's own mechanism decay too? If not, m is there for a comparison
	n := &description.Precision{
		Cells: s.cells(), Events: "events", Value: s.value, Low: s.low, High: s.high,
		Count: s.countDeviation, Quantile: s.law.Z95,
		Increments: c.increments,
	}
	if facts.Discrete() {
		n.Draws = s.draws
	}
	switch {
	case s.weightMax > 0:
		n.Events = "weights"
	case s.persons():
		n.Events, n.MostSteps = persons, c.terms.Unit.Figures().Period
	}
	for k, name := range s.statistics {
		x := description.Statistic{Name: name, Ratio: !always(name), Deviation: s.deviationOf(k)}
		if x.Ratio {
			x.Shown = float64(shown * s.continuous(1))
		}
		if s.levels[k] > 0 {
			x.Unit, x.Shown = "points of rank", float64(shown*s.spread)/s.weights.Quantile
		}
		n.Statistics = append(n.Statistics, x)
	}
	switch {
	case facts.EachStep():
		n.Views = []description.View{{Name: "each step alone"}}
	case !decays:
		n.Views = []description.View{{Name: "total since the start"}}
	case !own:
		n.Views = []description.View{{Name: "memory " + setting.Decimal(float64(memory)), Memory: memory}}
	default:
		for _, memory := range c.memories {
			n.Views = append(n.Views, description.View{Name: "memory " + setting.Decimal(float64(memory)), Memory: memory})
		}
	}
	return n
}

// draws returns the noise of a step of once-laplace.
func (s *specification) draws(sigma float64) description.Draws {
	d := description.Draws{Number: 1, Value: sigma, Fractions: !s.whole()}
	if s.weights.Mean > 0 {
		d.Value = sigma / s.weights.Mean
	}
	if s.weights.Count == 0 {
		d.Number, d.Count = float64(s.weights.Bins), s.counting(sigma, s.weights.Quantile)
		return d
	}
	d.Count = s.counting(sigma, s.weights.Count)
	return d
}

// deviationOf returns a function that computes the standard deviation of a statistic's noise from σ, the standard
// deviation of the noise of a released column. x̃ is a value mapped to [−1, 1]. With x the mean of x̃ in a cell of n
// events and v the variance of x̃, to the first order in the noise of the columns, which is independent:
//
//	count     σ/a
//	sum       σ·√((middle/a)² + (half/b)²)
//	mean      half·σ·√(1/b² + x²/a²)/n                              (interval.MeanPlan)
//	variance  half²·σ·√(1/c² + 4x²/b² + (x²+½−v)²/a²)/n
//	quantile  100·σ·(what the test of the bin of x divides by)/(w·n), in hundredths of the events
//
// v = y/n + ½ − (s/n)² has the derivatives 1/n, −2x/n and (x² + ½ − v)/n in the columns' sums y of x̃²−½, s of x̃ and n
// itself. Between 0 and 1 − x², where variances are, the last derivative is largest in size at v = 0. The code uses
// this upper bound.
func (s *specification) deviationOf(k int) func(sigma float64, in description.Cell) float64 {
	w, half := s.weights, s.half()
	if s.levels[k] > 0 {
		return func(sigma float64, in description.Cell) float64 {
			bin := min(int((in.Mean+1)/2*float64(w.Bins)), w.Bins-1)
			return 100 * sigma * s.limits[k][bin] / w.Quantile / in.Events
		}
	}
	switch s.statistics[k] {
	case count, persons:
		return func(sigma float64, _ description.Cell) float64 { return s.countDeviation(sigma) }
	case sum:
		return func(sigma float64, _ description.Cell) float64 { return s.sumDeviation(sigma) }
	case mean:
		return func(sigma float64, in description.Cell) float64 {
			p := interval.MeanPlan{Count: w.Count, Mean: w.Mean, Range: s.high - s.low, Events: in.Events, At: in.Mean}
			return p.HalfWidth(sigma, 1)
		}
	}
	return func(sigma float64, in description.Cell) float64 {
		x := in.Mean
		of, sum := [3]float64{1 / w.Square, 2 * x / w.Mean, (float64(x*x) + 0.5) / w.Count}, 0.0
		for _, y := range of {
			sum += float64(y * y)
		}
		return half * half * sigma * math.Sqrt(sum) / in.Events
	}
}
