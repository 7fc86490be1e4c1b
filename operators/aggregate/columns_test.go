package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/operators/description"
	"oriel/operators/experiment"
	"oriel/schemas/event"
)

// weighed returns a specification of two or three cells an arm, whose columns have unlike weights, and totals of
// its cells that no two share.
func weighed(t *testing.T, cells string) (operator, totals) {
	t.Helper()
	c, _ := config(t, tumbling(100), "CELLS="+cells, "VALUE=delay=-60:180", "STATISTICS=mean*4,count*0.5,variance*2",
		"ARMS=variant")
	x := totals{sums: make([]float64, c.spec.hot().Size()), deviation: 3}
	for cell := range c.spec.cells() {
		n := 1000 + 100*float64(cell*cell)
		copy(x.sums[3*cell:], []float64{0.5 * n, 4 * n * (0.02*float64(cell) - 0.1), 2 * n * -0.3})
	}
	return c, x
}

// column returns a released column in its own units: the sum and its noise, both divided by the weight.
func (t totals) column(cell, column int, weight float64) interval.Noisy {
	return interval.Noisy{Value: t.sums[3*cell+column] / weight, Deviation: t.deviation / weight}
}

// TestIntervalsHaveTheNoiseOfTheirColumns checks that each column's noise is divided by its weight, as its sum is. The
// ends θ of a mean's interval satisfy Fieller's equation (y − θn)² = z²·σ²(1/b² + θ²/a²).
func TestIntervalsHaveTheNoiseOfTheirColumns(t *testing.T) {
	c, x := weighed(t, "variant=a|b|c,hour=0:24:2")
	s := &c.spec
	for cell := range s.cells() {
		n, y := x.column(cell, 0, 0.5), x.column(cell, 1, 4)
		got := s.interval(slices.Index(s.statistics, mean), cell, x)
		for _, end := range []float64{got.low, got.high} {
			theta := (end - 60) / 120
			left := math.Abs(y.Value - theta*n.Value)
			right := interval.Z95 * 3 * math.Sqrt(1/16.0+theta*theta*4)
			if math.Abs(left/right-1) > 1e-9 {
				t.Errorf("cell %d: the end %g is %g away, want %g", cell, end, left, right)
			}
		}
		want := interval.Variance(x.column(cell, 2, 2), y, n, interval.Normal)
		if got := s.interval(slices.Index(s.statistics, variance), cell, x); math.Abs(got.low/want.Low/14400-1) > 1e-12 ||
			math.Abs(got.high/want.High/14400-1) > 1e-12 {
			t.Errorf("cell %d: variance in [%g, %g], want %+v·120²", cell, got.low, got.high, want)
		}
	}
}

// cellOf returns the number of the cell with the given places of arm and of the other dimensions, in the order of
// labels.
func cellOf(t *testing.T, s *specification, arm string, other int) int {
	t.Helper()
	for cell, label := range s.labels() {
		if slices.Contains(strings.Split(label, ","), "variant="+arm) {
			if other == 0 {
				return cell
			}
			other--
		}
	}
	t.Fatalf("no such cell of %s", arm)
	return 0
}

// TestDifferencesHaveTheNoiseOfTheirCells computes differences of means and shares from the columns of both cells. The
// share of a cell has the noise of all cells of its arm, which are independent.
func TestDifferencesHaveTheNoiseOfTheirCells(t *testing.T) {
	for _, cells := range []string{"variant=a|b|c,hour=0:24:3", "hour=0:24:3,variant=a|b|c"} {
		c, x := weighed(t, cells)
		s := &c.spec
		members := c.members()
		values := members.Values()
		s.appendDifferences(members, values, x)
		share := func(arm string, other int) interval.Estimate {
			part, rest := x.column(cellOf(t, s, arm, other), 0, 0.5), 0.0
			for k := range 3 {
				if k != other {
					rest += x.column(cellOf(t, s, arm, k), 0, 0.5).Value
				}
			}
			return interval.ShareOf(part, interval.Noisy{Value: rest, Deviation: 3 / 0.5 * math.Sqrt2}, interval.Z95)
		}
		average := func(arm string, other int) interval.Estimate {
			cell := cellOf(t, s, arm, other)
			return interval.MeanOf(x.column(cell, 1, 4), x.column(cell, 0, 0.5), interval.Z95)
		}
		at := 0
		for _, arm := range []string{"b", "c"} {
			for other := range 3 {
				if label := c.spec.differenceLabels()[at]; label != s.labels()[cellOf(t, s, arm, other)] {
					t.Errorf("%s: difference %d is of %s", cells, at, label)
				}
				d, ends := interval.Difference(average(arm, other), average("a", other))
				e, wide := interval.Difference(share(arm, other), share("a", other))
				of, to := members.differences[0], members.differences[1]
				got := []operators.NumbersMember{of.value, of.low, of.high, to.value, to.low, to.high}
				for i, want := range []float64{120 * d, 120 * ends.Low, 120 * ends.High, e, wide.Low, wide.High} {
					if got := got[i].Of(values)[at]; math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
						t.Errorf("%s: number %d of the difference of %s, cell %d, is %g, want %g", cells, i, arm, other, got, want)
					}
				}
				at++
			}
		}
	}
}

// TestRatiosAreShownFromTheirNoise checks that a ratio is shown if its count exceeds 12 deviations of its noise, which
// is that of a column over its weight, times √k for the sum of k cells.
func TestRatiosAreShownFromTheirNoise(t *testing.T) {
	c, x := weighed(t, "variant=a|b|c,hour=0:24:3")
	s := &c.spec
	if got, want := s.leastCount(1, x), 12*3/0.5; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("least count %g, want %g", got, want)
	}
	each := 12 * 3 / 0.5 * math.Sqrt(3) / 3 // of three equal cells
	for by, want := range map[float64]bool{1.001: true, 0.999: false} {
		for cell := range s.cells() {
			x.sums[3*cell] = 0.5 * each * by
		}
		if got := s.knowsDifference(share, s.comparison(), 1, 0, x); got != want {
			t.Errorf("%g of the least count: shown %v", by, got)
		}
	}
	c, _ = config(t, tumbling(100), "CELLS=hour=0:24:3", "VALUE=delay=-60:180", "STATISTICS=p50*3", "BINS=8")
	energy := 0.0
	for k, r := 0, 1.0; k < 8; k++ {
		energy += r * r
		r *= float64(2*k+1) / float64(2*k+2)
	}
	if got, want := c.spec.leastLast(x), 12*3*math.Sqrt(energy)/3; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("least running count %g, want %g", got, want)
	}
}

// TestExperimentsHaveTheNoiseOfAllCells checks the noise of an arm's sums: that of a draw over the column's weight,
// times √k for k cells. The rounding of k cells adds up.
func TestExperimentsHaveTheNoiseOfAllCells(t *testing.T) {
	for cells, k := range map[string]float64{
		"variant=A|B": 1, "variant=A|B,hour=0:24:3": 3, "day=mon|tue,variant=A|B,hour=0:24:3": 6,
	} {
		c, _ := config(t, ending(100, 100), experimental("CELLS="+cells, "STATISTICS=count*0.5,mean*4,variance*2")...)
		law := mechanisms.NoiseLaw{Draw: 7, Rounding: 0.01}
		s := c.test.Settings(law, 100)
		for name, x := range map[string][2]float64{
			"count": {s.Count, 14 * math.Sqrt(k)}, "value": {s.Value, 7.0 / 4 * math.Sqrt(k)},
			"square": {s.Square, 3.5 * math.Sqrt(k)}, "rounding": {s.Rounding, 0.02 * k},
		} {
			if math.Abs(x[0]/x[1]-1) > 1e-12 {
				t.Errorf("%s: %s has %g, want %g", cells, name, x[0], x[1])
			}
		}
		c.test.Exact = true
		exact := c.test.Settings(law, 100)
		if !(exact.Count > 0 && exact.Count < 1e-6*s.Count && exact.Value < 1e-6*s.Value) {
			t.Errorf("%s: without noise, draws have %g and %g", cells, exact.Count, exact.Value)
		}
	}
}

// TestExperimentsReadAllCells compares the sums that an experiment reads with the events of each step: an arm's count,
// its Σx̃ and its Σ(x̃² − ½). They cover all cells of the arm, and do not depend on the weights of columns.
func TestExperimentsReadAllCells(t *testing.T) {
	for _, cells := range []string{"variant=A|B|C,hour=0:24:3", "hour=0:24:3,variant=A|B|C"} {
		for name, m := range map[string]mechanisms.Config{"horizon": ending(50, 40), "life": life(64, 40)} {
			c, m := config(t, m, experimental("CELLS="+cells, "STATISTICS=count*0.5,mean*4,variance*2",
				"PROPENSITIES=0.25|0.25|0.5")...)
			machine := quiet(t, c, m)
			counted := operators.ByCount(machine)
			var want [3]experiment.Arm
			for i := range 800 {
				arm, hour, y := i*i%3, float64(i*7%24), float64(i%11)/10
				numbers := []float64{float64(arm), hour, y}
				if strings.HasPrefix(cells, "hour") {
					numbers[0], numbers[1] = hour, float64(arm)
				}
				x := 2*y - 1
				want[arm].Count++
				want[arm].Value += x
				want[arm].Square += x*x - 0.5
				if len(counted.Add(nil, operators.Record{Event: event.Event{Numbers: numbers}})) == 0 {
					continue
				}
				for k, got := range machine.test.Released {
					w := want[k]
					if math.Abs(got.Count-w.Count)+math.Abs(got.Value-w.Value)+math.Abs(got.Square-w.Square) > 1e-3 {
						t.Fatalf("%s, %s: event %d: arm %d has %+v, want %+v", cells, name, i, k, got, w)
					}
				}
				want = [3]experiment.Arm{}
			}
		}
	}
}

// TestPlannedDeviationsHaveTheWeightsOfTheirColumns compares the planned deviation of a statistic with a numerical
// derivative of the statistic by each column's noise, at the variance 0 that the plan assumes.
func TestPlannedDeviationsHaveTheWeightsOfTheirColumns(t *testing.T) {
	c, _ := weighed(t, "variant=a|b|c,hour=0:24:2")
	s, sigma := &c.spec, 3.0
	const n, x, half = 1e4, 0.3, 120.0
	weights := [3]float64{0.5, 4, 2} // of count, mean and squares
	statistics := map[string]func(n, y, q float64) float64{
		count:    func(n, _, _ float64) float64 { return n },
		mean:     func(n, y, _ float64) float64 { return half * y / n },
		variance: func(n, y, q float64) float64 { return half * half * (q/n + 0.5 - y*y/(n*n)) },
	}
	for k, name := range s.statistics {
		of, square := statistics[name], 0.0
		at := [3]float64{n, n * x, n * (x*x - 0.5)}
		for column, w := range weights {
			moved, step := at, 0.01
			moved[column] += step
			slope := (of(moved[0], moved[1], moved[2]) - of(at[0], at[1], at[2])) / step
			square += math.Pow(slope*sigma/w, 2)
		}
		got := s.deviationOf(k)(sigma, description.Cell{Events: n, Mean: x})
		if want := math.Sqrt(square); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
}

// TestRatiosAreOfTheRange shows columns beyond what events can have, as noise makes them: a mean stays in the range of
// values, and a variance from 0 to the square of its half.
func TestRatiosAreOfTheRange(t *testing.T) {
	c, x := weighed(t, "variant=a|b")
	s := &c.spec
	for beyond, want := range map[[2]float64][2]float64{
		{1.5, 9}: {180, 14400}, {-1.5, -9}: {-60, 0}, {0.5, 0.1}: {120, 0.35 * 14400},
	} {
		const n = 1e4
		copy(x.sums, []float64{0.5 * n, 4 * n * beyond[0], 2 * n * beyond[1]})
		least := s.leastCount(1, x)
		for i, name := range []string{mean, variance} {
			got := s.number(slices.Index(s.statistics, name), 0, least, x)
			if math.Abs(got-want[i]) > 1e-9*14400 {
				t.Errorf("columns %g: %s is %g, want %g", beyond, name, got, want[i])
			}
		}
	}
}
