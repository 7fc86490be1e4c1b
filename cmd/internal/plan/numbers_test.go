package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/statistics"
	deployment "oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// counting returns settings of an operator whose decisions are numbers, with changes.
func counting(changes ...string) []string {
	given := map[string]string{}
	for _, line := range append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CELLS=place=0:8:8", "ORIEL_VALUE=delay=-60:180",
		"ORIEL_STATISTICS=count,sum,mean,variance",
	}, changes...) {
		name, _, _ := strings.Cut(line, "=")
		given[name] = line
	}
	var lines []string
	for _, line := range given {
		if !strings.HasSuffix(line, "=") {
			lines = append(lines, line)
		}
	}
	return lines
}

// countingInput returns the Input of a plan for the settings of counting.
func countingInput(t testing.TB, changes ...string) Input {
	t.Helper()
	s, err := deployment.Load(counting(changes...), deployment.Events, deployment.Operator)
	if err != nil {
		t.Fatal(err)
	}
	learner := s.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	return Input{Configured: mechanism, Operator: operator, AgeWeight: s.AgeWeight}
}

func numbersOf(t testing.TB, changes ...string) *Report {
	t.Helper()
	r, err := New(countingInput(t, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tumbling changes the settings to tumbling windows, total changes them to totals since the start.
var (
	tumbling = []string{"ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_MEMORY="}
	total    = []string{"ORIEL_WINDOW=64", "ORIEL_MEMORY="}
)

// convolved returns Σ_i x_i·y_{t−i} for each t.
func convolved(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for t := range out {
		for i := 0; i <= t; i++ {
			out[t] += x[i] * y[t-i]
		}
	}
	return out
}

// terms returns the first n terms of a series.
func terms(n int, of func(j int) float64) []float64 {
	out := make([]float64, n)
	for j := range out {
		out[j] = of(j)
	}
	return out
}

// filterOf returns the coefficients e of decaying sums from the filter's poles and residues: e_0 = 1, e_j = −Σ
// R_k·q_k^{j−1}.
func filterOf(f decay.Filter) func(int) float64 {
	return func(j int) float64 {
		e := 0.0
		for k := range f.Count {
			e -= float64(f.Residues[k]) / (1 << 30) * math.Pow(float64(f.Poles[k])/(1<<30), float64(j-1))
		}
		if j == 0 {
			return 1
		}
		return e
	}
}

// TestNumbersByAnotherRoute recomputes every number of the tables. Distances of a contribution follow from their
// formulas, µ from (ε, δ), the noise of one draw from the power series of 1/e, and the noise of views from the series
// of e. The half-width of a sum, a mean and a variance follows from moving released columns one by one. Rounding up of
// distances and scales changes a figure by less than 10⁻⁵, and the truncation of the series by less than 10⁻³.
func TestNumbersByAnotherRoute(t *testing.T) {
	const (
		a, b, c      = 1, 0.5, 2.0
		middle, half = 60.0, 120.0
		length       = 4000
	)
	changes := []string{
		"ORIEL_STATISTICS=count,sum*0.5,mean,variance*2", "ORIEL_MEMORIES=64,200", "ORIEL_INCREMENTS=true", "ORIEL_BATCH=40",
	}
	// over a grid: distance of two contributions to one cell, and √2 times the longest contribution for two cells
	diameter := 0.0
	for i := range 401 {
		for j := range 401 {
			x, y := float64(i)/200-1, float64(j)/200-1
			diameter = max(diameter, math.Hypot(b*(x-y), c*(x*x-y*y)))
		}
	}
	longest := math.Sqrt(a*a + b*b + c*c/4)
	for adjacency, move := range map[string]float64{"replace": max(diameter, math.Sqrt2*longest), "zero-out": longest} {
		in := countingInput(t, append(changes, "ORIEL_ADJACENCY="+adjacency)...)
		in.After = 1300
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		f := r.Mechanisms[0].opened.Calibration.Decay
		e := terms(length, filterOf(f))
		inverse := make([]float64, length)
		for t := range inverse { // Σ_i e_i·c_{t−i} must be 1 at t = 0 and 0 elsewhere
			if t == 0 {
				inverse[0] = 1
			}
			for i := 1; i <= t; i++ {
				inverse[t] -= e[i] * inverse[t-i]
			}
		}
		draw := move / muOf(1, 1e-6) * math.Sqrt(squares(inverse))
		if len(r.Numbers.Views) != 5 {
			t.Fatalf("views %+v", r.Numbers.Views)
		}
		for i, memory := range []float64{64, 200} {
			gamma := 1 - 1/memory
			decay := terms(length, func(j int) float64 { return math.Pow(gamma, float64(j)) })
			sigma := draw * math.Sqrt(squares(convolved(e, decay)))
			v := r.Numbers.Views[i]
			near(t, "deviation", float64(v.Sigma), sigma, 1e-3)
			near(t, "count", float64(v.Count.Half), 1.96*sigma/a, 1e-3)
			near(t, "sum", float64(v.Sum.Half), 1.96*sigma*math.Hypot(middle/a, half/b), 1e-3)
			near(t, "events", float64(v.Events), 40*memory, 0)
			near(t, "events of a cell", float64(v.CellEvents), 5*memory, 0)
			near(t, "shown from", float64(v.ShownFrom), 12*sigma/a, 1e-3)
			if v.Memory != uint64(memory) || !v.Configured ||
				!(v.Count.Worst > v.Count.Half && v.Count.Worst < 1.4*v.Count.Half) {
				t.Errorf("view %+v", v)
			}
			if memory == 64 {
				near(t, "over the optimum", float64(v.OverOptimum), float64(r.Mechanisms[0].OverOptimum), 1e-5)
			}
			window := squares(convolved(e, terms(length, func(j int) float64 {
				if j < 16 {
					return 1
				}
				return 0
			})))
			w := r.Numbers.Increments[2]
			near(t, "window", float64(w.Count.Half), 1.96*draw*math.Sqrt(window)/a, 1e-3)
			near(t, "window's sum", float64(w.Sum.Half), 1.96*draw*math.Sqrt(window)*math.Hypot(middle/a, half/b), 1e-3)
			if w.Steps != 16 || len(r.Numbers.Increments) != 5 {
				t.Errorf("%d windows, the third of %d steps", len(r.Numbers.Increments), w.Steps)
			}
		}
		known := 0
		for _, ratio := range r.Numbers.Ratios {
			v := r.Numbers.Views[slices.IndexFunc(r.Numbers.Views, func(v statistics.NumberView) bool {
				return v.View == ratio.View
			})]
			n, sigma := float64(ratio.Events), float64(v.Sigma)
			if want := n > 12*sigma/a && n <= float64(v.Events); ratio.Middle.Known() != want {
				t.Errorf("%+v: known %t, shown from %g to %g", ratio, !want, 12*sigma/a, float64(v.Events))
			}
			if !ratio.Middle.Known() {
				continue
			}
			known++
			for x, got := range map[float64]digits.Number{0: ratio.Middle, 1: ratio.Ends, -1: ratio.Ends} {
				near(t, ratio.Statistic, float64(got), 1.96*moved(ratio.Statistic, sigma, n, x, [3]float64{a, b, c}, half), 1e-3)
			}
		}
		if known != 8 { // ratios over 1000 and 1300 events, in two views
			t.Errorf("%d ratios: %+v", known, r.Numbers.Ratios)
		}
	}
}

// moved returns the standard deviation of a ratio over a cell of n events, all of value x̃. It moves one column at a
// time by a little of the column's noise, and takes the root of the sum of squared effects.
func moved(statistic string, sigma, n, x float64, weights [3]float64, half float64) float64 {
	value := func(columns [3]float64) float64 {
		mean := columns[1] / columns[0]
		if statistic == "mean" {
			return half * mean
		}
		return half * half * (columns[2]/columns[0] + 0.5 - mean*mean)
	}
	total := 0.0
	for i := range 3 {
		const little = 1e-4
		up, down := [3]float64{n, n * x, n * (x*x - 0.5)}, [3]float64{n, n * x, n * (x*x - 0.5)}
		up[i] += little * sigma / weights[i]
		down[i] -= little * sigma / weights[i]
		total += math.Pow((value(up)-value(down))/(2*little), 2)
	}
	return math.Sqrt(total)
}

// TestNumbersOfQuantiles checks the half-width of a quantile, which is that of the share of a cell's events below the
// quantile. The share is the running count of the quantile's bin, minus the level times the last running count. Both
// are sums of columns by the rows of R, whose entries are the coefficients of (1−z)^{−1/2}. If there is no column for
// the count, the last running count is the count.
func TestNumbersOfQuantiles(t *testing.T) {
	const bins, events = 16, 100_000
	in := countingInput(t, append(tumbling, "ORIEL_STATISTICS=p20", "ORIEL_BINS=16", "ORIEL_BATCH=1000000")...)
	in.After = events
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	coefficient := []float64{1}
	for k := 1; k < bins; k++ {
		coefficient = append(coefficient, coefficient[k-1]*(float64(k)-0.5)/float64(k))
	}
	v := r.Numbers.Views[0]
	near(t, "count", float64(v.Count.Half), 1.96*float64(v.Sigma)*math.Sqrt(squares(coefficient)), 1e-4)
	deviation := func(bin int) float64 {
		sum := 0.0
		for i := range bins {
			x := -0.2 * coefficient[bins-1-i]
			if i <= bin {
				x += coefficient[bin-i]
			}
			sum += x * x
		}
		return 1.96 * 100 * float64(v.Sigma) * math.Sqrt(sum) / events
	}
	ratio := r.Numbers.Ratios[slices.IndexFunc(r.Numbers.Ratios, func(x statistics.NumberRatio) bool {
		return x.Events == events
	})]
	near(t, "middle", float64(ratio.Middle), deviation(bins/2), 1e-4)
	most := 0.0 // the largest error is in bin 12, not in the first or the last bin
	for bin := range bins {
		most = max(most, deviation(bin))
	}
	near(t, "the largest", float64(ratio.Ends), most, 1e-4)
	if ratio.Unit != "points of rank" {
		t.Errorf("unit %q", ratio.Unit)
	}
}

// TestNumbersOfUsers checks that at user level the noise is calibrated for all events of a user, each at the
// contribution's own distance.
func TestNumbersOfUsers(t *testing.T) {
	changes := append([]string{"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=64", "ORIEL_STATISTICS=count", "ORIEL_VALUE="},
		total...)
	one := numbersOf(t, changes...)
	if s := one.Setting; s.Unit != "user" || math.Abs(s.Sensitivity-math.Sqrt2) > 1e-5 {
		t.Errorf("unit %s, Δ %g", s.Unit, s.Sensitivity)
	}
	event := numbersOf(t, append(total, "ORIEL_STATISTICS=count", "ORIEL_VALUE=")...)
	near(t, "one event a window", float64(one.Numbers.Views[0].Count.Half), float64(event.Numbers.Views[0].Count.Half),
		0.01)
	changes[1] = "ORIEL_USER_SEPARATION=8"
	if many := numbersOf(t, changes...); !(many.Numbers.Views[0].Count.Half > 2*one.Numbers.Views[0].Count.Half) {
		t.Errorf("8 events of a user in a window: %+v", many.Numbers.Views[0])
	}
}

// player opens a machine with the settings, as oriel run does.
func player(t testing.TB, in Input) operators.Machine {
	t.Helper()
	operator := in.Operator
	public, err := operator.Params(in.Configured)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := operator.Open(public, mechtest.Open(t, in.Configured, [32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// spreadOf returns the share of counts without events that are within ±Half, and the root mean square of these counts
// divided by the promised deviation. It samples the first view in step `first` and then in every `every`-th step.
func spreadOf(t testing.TB, in Input, promised statistics.Spread, first, every, samples int) (covered, ratio float64) {
	t.Helper()
	machine, inside, sum, n := player(t, in), 0, 0.0, 0
	counted := operators.ByCount(machine)
	cells := in.Operator.Describe(in.Configured).Precision.Cells
	var dst []operators.Decision
	for step := 1; step <= first+(samples-1)*every; step++ {
		for range in.Configured.Batch {
			dst = counted.Add(dst[:0], operators.Record{Null: true, Identity: noise.Identity{Offset: int64(step)}})
		}
		if step < first || (step-first)%every != 0 {
			continue
		}
		for _, x := range dst[0].Point[:cells] {
			if n++; math.Abs(x) <= float64(promised.Half) {
				inside++
			}
			sum += x * x
		}
	}
	return float64(inside) / float64(n), math.Sqrt(sum/float64(n)) / float64(promised.Deviation)
}

// looks is the number of steps at which spreadOf samples; they are far enough apart to be independent.
func looks() int { return tiertest.Runs(3, 12) }

// sixth returns 6.11 standard errors of a rate p over n samples. A correct rate deviates by more with a probability of
// 10⁻⁹.
func sixth(p float64, n int) float64 { return 6.11 * math.Sqrt(p*(1-p)/float64(n)) }

// sixthOfDeviation returns 6.11 relative standard errors of the root mean square of n normal numbers.
func sixthOfDeviation(n int) float64 { return 6.11 / math.Sqrt(2*float64(n)) }

// TestCountsAreWithinTheirError checks that the promised half-width of counts covers the noise of real streams, in 2048
// cells at several steps.
func TestCountsAreWithinTheirError(t *testing.T) {
	for name, x := range map[string]struct {
		changes      []string
		first, every int
	}{
		"memory":                  {[]string{"ORIEL_MEMORY=16"}, 160, 80},
		"memory that others read": {[]string{"ORIEL_MEMORY=64", "ORIEL_MEMORIES=16"}, 400, 80},
		"tumbling":                {tumbling, 1, 1},
		"total":                   {[]string{"ORIEL_WINDOW=16", "ORIEL_MEMORY=", "ORIEL_AGE_WEIGHT=0"}, 160, 80},
	} {
		t.Run(name, func(t *testing.T) {
			changes := append([]string{"ORIEL_CELLS=place=0:2048:2048", "ORIEL_STATISTICS=count", "ORIEL_VALUE="}, x.changes...)
			in := countingInput(t, changes...)
			promised := numbersOf(t, changes...).Numbers.Views[0].Count
			covered, ratio := spreadOf(t, in, promised, x.first, x.every, looks())
			n := 2048 * looks()
			if math.Abs(covered-0.95) > sixth(0.95, n) || math.Abs(ratio-1) > sixthOfDeviation(n) {
				t.Errorf("%.4f are within ±, and the deviation is %.4f of what was promised", covered, ratio)
			}
		})
	}
}

// TestRatiosAreWithinTheirError checks that the half-widths of sums, means and variances cover the noise of real
// streams, in tumbling windows of 64 cells with 100 events each. In half of the cells the values are at one end of
// their range, where a mean has its largest error. The half-width of a variance is an upper bound.
func TestRatiosAreWithinTheirError(t *testing.T) {
	const cells, events = 64, 100
	windows := tiertest.Runs(30, 100)
	changes := append([]string{
		"ORIEL_CELLS=place=0:64:64", "ORIEL_EPSILON=8",
		fmt.Sprintf("ORIEL_BATCH=%d", cells*events),
	}, tumbling...)
	in := countingInput(t, changes...)
	in.After = events
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	half := map[string][2]digits.Number{"sum": {r.Numbers.Views[0].Sum.Half, r.Numbers.Views[0].Sum.Half}}
	for _, ratio := range r.Numbers.Ratios {
		if ratio.Events == events {
			half[ratio.Statistic] = [2]digits.Number{ratio.Middle, ratio.Ends}
		}
	}
	// In the middle cells, values alternate between 60 ± 120·√½. Their variance is v = ½, at which the noise of the
	// count does not change a variance.
	truth := map[string][2]float64{"sum": {60 * events, 180 * events}, "mean": {60, 180}, "variance": {120 * 120 / 2, 0}}
	machine := player(t, in)
	counted := operators.ByCount(machine)
	inside, offset := map[string][2]int{}, int64(0)
	var dst []operators.Decision
	for range windows {
		for i := range cells * events {
			cell := i % cells
			value := 180.0
			if cell%2 == 0 {
				value = 60 + 120*math.Sqrt(0.5)*float64(1-2*(i/cells%2))
			}
			offset++
			dst = counted.Add(dst[:0], operators.Record{
				Identity: noise.Identity{Offset: offset}, Event: event.Event{Weight: 1, Numbers: []float64{float64(cell), value}},
			})
		}
		for at, statistic := range []string{"count", "sum", "mean", "variance"} {
			for cell, x := range dst[0].Point[at*cells:][:cells] {
				if k := cell % 2; statistic != "count" && math.Abs(x-truth[statistic][k]) <= float64(half[statistic][k]) {
					sides := inside[statistic]
					sides[k]++
					inside[statistic] = sides
				}
			}
		}
	}
	for statistic, sides := range inside {
		for k, n := range sides {
			share := float64(n) / float64(cells/2*windows)
			t.Logf("%s, side %d: %.4f", statistic, k, share)
			low, high := 0.95-sixth(0.95, cells/2*windows), 0.95+sixth(0.95, cells/2*windows)
			if statistic == "variance" || statistic == "mean" && k == 1 {
				high = 1 // numbers are clamped to their range, and the half-width of a variance is an upper bound
			}
			if share < low || share > high {
				t.Errorf("%s, side %d: %.4f within ±", statistic, k, share)
			}
		}
	}
}

// TestReportOfNumbers checks the contents of a report of numbers. The report must omit figures of learners, mechanisms
// that the operator refuses, and loss units.
func TestReportOfNumbers(t *testing.T) {
	f := func(changes []string, want ...string) {
		t.Helper()
		in := countingInput(t, changes...)
		in.After = 3000
		out := tableOf(t, in)
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%v: no %q in\n%s", changes, text, out)
			}
		}
		for _, text := range []string{"tree-", "paper", "gamma", "loss units", "clip", "radius"} {
			if strings.Contains(out, text) {
				t.Errorf("%v: %q in\n%s", changes, text, out)
			}
		}
	}
	f([]string{"ORIEL_MEMORY=65536", "ORIEL_MEMORIES=1000,65536"}, "* memory 1000 ", "* memory 65536 ",
		"  total since the start, blt with W = 65536", "  each step alone, once-gaussian",
		"± of the mean of delay over n events of its cell", "± of the variance of delay", "n = 3000", "n = 10000")
	f([]string{"ORIEL_INCREMENTS=true"}, "± of a sum of increments", "  256 ",
		"warning: memory 64: 8 cells share 64 events, 8 each if all have as many, and the noise of a count is ")
	f(append(tumbling, "ORIEL_BATCH=1000"), "* each step alone ", "blt is left out: needs a window")
	f(append(total, "ORIEL_WEIGHT_MAX=2"), "* total since the start ", "weights in 8 cells")
	f([]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=500", "ORIEL_MEMORY="}, "* total since the start ", "  500 ")
	if texts := slices.Concat(mechanisms.Names()); !slices.Contains(texts, "tree-gamma") {
		t.Error("what must not be said is the name of nothing")
	}
}
