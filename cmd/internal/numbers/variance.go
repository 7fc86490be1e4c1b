package numbers

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/cmd/internal/numbers/laplace"
	"oriel/operators/aggregate/interval"
)

// point holds the released numbers of a cell, which have independent noise: n, S and Q, the sums of 1, x and x² − ½.
type point struct{ count, sum, square interval.Noisy }

const (
	looks    = 24 // number of points in the first search for the nearest mean
	narrower = 25 // number of golden-section steps between two points, which gives a precision of 10⁻⁶
	halvings = 30 // number of bisection steps for an end of the interval
)

// variance returns an interval for the variance of x in [0, 1] about its mean. If the count is hardly more than noise,
// the result is the interval that decisions publish, which contains the true variance in at least 95 % of cases. z is
// that of columns with this law.
// Otherwise it contains the variances v with |r*(v)| ≤ z. Here r is the distance of the point from the surface of
// variance v, which is a likelihood root, and r* is r modified to be normal to third order (O. E. Barndorff-Nielsen,
// Inference on full or partial parameters based on the standardized signed log likelihood ratio, Biometrika 73 (1986)).
func (p point) variance(law interval.Law, z float64) interval.Interval {
	if !p.count.Shown() {
		return interval.Variance(p.square, p.sum, p.count, law)
	}
	end := func(z float64) float64 { // r* decreases in v
		low, high := 0.0, 1.0
		if p.root(low) <= z {
			return low
		}
		if p.root(high) >= z {
			return high
		}
		for range halvings {
			if v := (low + high) / 2; p.root(v) > z {
				low = v
			} else {
				high = v
			}
		}
		return (low + high) / 2
	}
	return interval.Interval{Low: end(z), High: end(-z)}
}

// root returns r* of a variance v. The points of variance v are a cone, n·d(m) with d = (1, m, m² + v − ½). At the
// nearest one, which has mean m and count n, the difference e from the point is orthogonal to d and to its derivative
// d' = (0, 1, 2m), all in units of the deviations. A cone is straight along d. In the other direction, with D =
// ⟨d,d⟩⟨d',d'⟩ − ⟨d,d'⟩² and the second derivative (0, 0, 2), it has a curvature κ with rκ = 2⟨d,d⟩e₃/(nD). The
// determinant of the information over all points, divided by that over the points of variance v, then gives r* = r −
// log(1 − rκ)/2r.
func (p point) root(v float64) float64 {
	unit := vector{1 / p.count.Deviation, 1 / p.sum.Deviation, 1 / p.square.Deviation}
	x := vector{p.count.Value * unit[0], p.sum.Value * unit[1], p.square.Value * unit[2]}
	m := nearest(func(m float64) float64 {
		d := vector{unit[0], m * unit[1], (m*m + v - 0.5) * unit[2]}
		along := max(0, x.dot(d))
		// how much nearer than the origin the nearest point of the cone is, as a squared distance
		return along * along / d.dot(d)
	})
	d, across := vector{unit[0], m * unit[1], (m*m + v - 0.5) * unit[2]}, vector{0, unit[1], 2 * m * unit[2]}
	n := x.dot(d) / d.dot(d)
	e := vector{x[0] - n*d[0], x[1] - n*d[1], x[2] - n*d[2]}
	r := math.Copysign(math.Sqrt(e.dot(e)), e[2])
	area := d.dot(d)*across.dot(across) - d.dot(across)*d.dot(across)
	bend := 2 * d.dot(d) * e[2] * unit[2] / (n * area)
	if math.Abs(r) < 1e-6 {
		return r + bend/(2*r)
	}
	return r - math.Log1p(-min(bend, mostBent))/(2*r)
}

// mostBent keeps r* finite at a point from which many points of the cone are equally near.
const mostBent = 0.999

type vector [3]float64

func (a vector) dot(b vector) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// nearest returns the mean in [−1, 1] at which a gain is largest.
func nearest(gain func(m float64) float64) float64 {
	const step, golden = 2.0 / looks, 0.6180339887498949
	best, most := -1.0, gain(-1)
	for k := range looks {
		m := -1 + step*float64(k+1)
		if g := gain(m); g > most {
			best, most = m, g
		}
	}
	low, high := max(-1, best-step), min(1, best+step)
	for range narrower {
		if a, b := high-(high-low)*golden, low+(high-low)*golden; gain(a) > gain(b) {
			high = b
		} else {
			low = a
		}
	}
	return (low + high) / 2
}

// merge adds steps to a list with one entry for each law.
func merge(list []laplace.Steps, d laplace.Steps) []laplace.Steps {
	if i := slices.IndexFunc(list, func(of laplace.Steps) bool {
		of.N = d.N
		return of == d
	}); i >= 0 {
		list[i].N += d.N
		return list
	}
	return append(list, d)
}

// spread holds the quantiles at 95 % of noise that is not normal.
type spread struct {
	below, above float64 // a count y has the interval [y − above, y + below]
	sum          float64 // half of the length of a sum's interval
	mean, column float64 // z of the intervals of a mean, and of ratios of any columns
}

// spread returns the quantiles of the noise of a group of cells in an interval, or nil if its noise is normal.
func (c *Collector) spread(key int64, cells int) *spread {
	var list []laplace.Steps
	for _, of := range c.streams(key) {
		for _, d := range c.partials[key][of].drawn {
			d.N *= float64(cells)
			d.Fractions = c.fractions
			list = merge(list, d)
		}
	}
	if list == nil {
		return nil
	}
	text := fmt.Sprint(list)
	if c.spreads[text] == nil {
		o := &spread{}
		o.below, o.above = laplace.Counts(list)
		if list[0].Value > 0 {
			middle, half := c.names.valueRange()
			o.sum, o.mean, o.column = laplace.Sums(list, middle, half), laplace.Means(list), laplace.Columns(list)
		}
		c.spreads[text] = o
	}
	return c.spreads[text]
}

// addDrawn adds the noise of a step of once-laplace.
func (c *Collector) addDrawn(p *partial, counts []float64, d laplace.Steps) error {
	if !(d.Count >= 1e-9 && d.Count <= 1<<40) || !(d.Value >= 0) || len(c.columns) > 1 && !(d.Value > 0) {
		return errors.New("a deviation that is none")
	}
	c.fractions = c.fractions || slices.ContainsFunc(counts, func(y float64) bool { return y != math.Trunc(y) })
	p.drawn = merge(p.drawn, d)
	return nil
}
