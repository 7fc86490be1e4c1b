package aggregate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/operators/optest/flighttest"
	"oriel/schemas/event"
)

var (
	flightsFile = flag.String("flights", "", "CSV of flights, columns carrier, hour, origin and arr_delay: TestCoverageOfFlights reads all of them; "+
		"takes half an hour")
	flightsStudy = flag.String("study", "", "the one study of TestCoverageOfFlights to do; empty: all")
)

// seeds returns the number of machines that a study pools. Each has its own noise.
func seeds() int { return tiertest.Runs(8, 20) }

// study is a deployment over events. All its intervals are compared with the truth at steps at least two memories
// apart.
type study struct {
	kind   mechanisms.Config
	lines  []string
	events []event.Event
	every  int     // number of steps between decisions
	errors float64 // allowed error of a share, in standard errors
}

// tally counts how many intervals cover the truth. Clusters are independent of each other. A cluster is one cell, or
// all cells of a seed where cells share noise. The standard error follows from the effective sample size.
type tally struct {
	hits, all map[int]float64
}

func (y *tally) add(cluster int, hit bool) {
	if y.all == nil {
		y.hits, y.all = map[int]float64{}, map[int]float64{}
	}
	y.all[cluster]++
	if hit {
		y.hits[cluster]++
	}
}

func (y *tally) share() (share, spread, n float64) {
	hits := 0.0
	for cluster := range y.all {
		hits, n = hits+y.hits[cluster], n+y.all[cluster]
	}
	share = hits / n
	for cluster := range y.all {
		away := y.hits[cluster] - share*y.all[cluster]
		spread += away * away
	}
	return share, math.Sqrt(spread) / n, n
}

// of holds, for one step, the values and weights of the events that each cell counts.
type of struct{ values, weights [][]float64 }

// truth computes a view's true numbers after a step, from all events up to that step.
func (s *study) truth(c operator, memory uint64, step int) of {
	out := of{make([][]float64, c.spec.cells()), make([][]float64, c.spec.cells())}
	gamma, weight := 1.0, 1.0
	if memory > 0 {
		gamma = float64(decay.Decay(memory)) / (1 << 30)
	}
	if c.perStep {
		gamma = 0
	}
	batch := int(s.kind.Batch)
	for i := step*batch - 1; i >= 0 && weight > 1e-12; i-- {
		e := s.events[i]
		cell, value, w := -1, 0.0, weight
		if at, ok := c.spec.cell(e.Numbers); ok {
			cell = at
		}
		if c.spec.value != "" {
			value = max(c.spec.low, min(c.spec.high, e.Numbers[len(e.Numbers)-1]))
		}
		if c.spec.weightMax > 0 {
			w *= min(e.Weight, c.spec.weightMax)
		}
		if cell >= 0 {
			out.values[cell], out.weights[cell] = append(out.values[cell], value), append(out.weights[cell], w)
		}
		if i%batch == 0 {
			weight *= gamma
		}
	}
	return out
}

// moments returns Σw, Σwv and Σwv² of a cell.
func (o of) moments(cell int) (n, sum, square float64) {
	for i, v := range o.values[cell] {
		w := o.weights[cell][i]
		n, sum, square = n+w, sum+w*v, square+w*v*v
	}
	return n, sum, square
}

// steps returns the steps at which a view is checked.
func (s *study) steps(memory uint64) (steps []int) {
	last := len(s.events) / int(s.kind.Batch) / s.every * s.every
	gap := max(s.every, (2*int(memory)+s.every-1)/s.every*s.every)
	for t := gap; t <= last; t += gap {
		steps = append(steps, t)
	}
	if steps == nil {
		steps = []int{last}
	}
	return steps
}

// run pools the intervals of all seeds by statistic. It also returns the mean square of the errors of counts, each
// divided by its standard deviation.
func (s *study) run(t *testing.T) (pooled map[string]*tally, count2 float64) {
	t.Helper()
	c, m := config(t, s.kind, append(s.lines, fmt.Sprint("EMIT_EVERY=", s.every))...)
	opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
	if err != nil {
		t.Fatal(err)
	}
	truths := make([]map[int]*facts, len(c.memories))
	for view, memory := range c.memories {
		truths[view] = map[int]*facts{}
		for _, step := range s.steps(memory) {
			truths[view][step] = newFacts(&c.spec, s.truth(c, memory, step))
		}
	}
	pooled = map[string]*tally{}
	squares, n := 0.0, 0.0
	for seed := range seeds() {
		machine, err := newMachine(c, opened.Open([32]byte{byte(seed), 77}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		for _, e := range s.events {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				for view := range c.memories {
					if f := truths[view][int(d.Step)]; f != nil {
						a, b := f.judge(t, c, d, view, seed, pooled)
						squares, n = squares+a, n+b
					}
				}
			}
		}
	}
	return pooled, squares / n
}

// facts are the true numbers of a view.
type facts struct {
	numbers     [][]float64 // by statistic, then cell; NaN if a cell has no such number
	differences map[string][]float64
}

func newFacts(s *specification, o of) *facts {
	f := &facts{differences: map[string][]float64{}}
	for k, name := range s.statistics {
		row := make([]float64, s.cells())
		for cell := range row {
			n, sum1, square := o.moments(cell)
			switch name {
			case count:
				row[cell] = n
			case sum:
				row[cell] = sum1
			case mean:
				row[cell] = sum1 / n
			case variance:
				row[cell] = square/n - sum1/n*sum1/n
			default:
				row[cell] = exact(o.values[cell], o.weights[cell], s.levels[k])
			}
		}
		f.numbers = append(f.numbers, row)
	}
	c := s.comparison()
	for arm := 1; arm < c.arms; arm++ {
		total, control := 0.0, 0.0
		for i := range c.treatments {
			a, _, _ := o.moments(c.cell(arm, i))
			b, _, _ := o.moments(c.cell(0, i))
			total, control = total+a, control+b
		}
		for i := range c.treatments {
			n1, sum1, _ := o.moments(c.cell(arm, i))
			n0, sum0, _ := o.moments(c.cell(0, i))
			f.differences[mean] = append(f.differences[mean], sum1/n1-sum0/n0)
			f.differences[share] = append(f.differences[share], n1/total-n0/control)
		}
	}
	return f
}

// judge adds the intervals of a view to the pool and returns the sum of the squared errors of counts, each divided by
// its standard deviation. Numbers that decisions show, because their count exceeds 12 deviations, are also pooled
// separately from the numbers of all cells.
func (f *facts) judge(t *testing.T, c operator, d operators.Decision, view, seed int,
	pooled map[string]*tally,
) (squares, n float64) {
	t.Helper()
	add := func(name string, cluster int, low, want, high float64) {
		if pooled[name] == nil {
			pooled[name] = &tally{}
		}
		slack := 1e-7 * (1 + math.Abs(want)) // allowed rounding of the lattice
		pooled[name].add(cluster, low-slack <= want && want <= high+slack)
	}
	cells := c.spec.cells()
	at := slices.Index(c.spec.statistics, count)
	for k, name := range c.spec.statistics {
		for cell, want := range f.numbers[k] {
			got, cluster := d.Point[view*c.spec.numbers()+k*cells+cell], seed*cells+cell
			sd := d.Extras[0].Numbers[view]
			switch {
			case name == sum:
				sd = d.Extras[1].Numbers[view]
				fallthrough
			case name == count:
				add(name, cluster, got-interval.Z95*sd, want, got+interval.Z95*sd)
				if name == count {
					squares, n = squares+(got-want)*(got-want)/sd/sd, n+1
				}
			case !math.IsNaN(want):
				low, high := extra(t, c, d, memberName(name)+"_low")[view*cells+cell], extra(t, c, d,
					memberName(name)+"_high")[view*cells+cell]
				add(name+", all cells", cluster, low, want, high)
				if at >= 0 && d.Point[view*c.spec.numbers()+at*cells+cell] > 12*sd {
					add(name, cluster, low, want, high)
				}
			}
		}
	}
	for _, name := range c.spec.compared() {
		wants := f.differences[name]
		for i, want := range wants {
			low, high := extra(t, c, d, name+"_difference_low"), extra(t, c, d, name+"_difference_high")
			a, b, most := low[view*len(wants)+i], high[view*len(wants)+i], 1.0
			if name == mean {
				most = c.spec.high - c.spec.low
			}
			if !math.IsNaN(want) && b-a < 1.99*most { // the number is shown: its interval is narrower than its range
				add("difference of "+name, seed, a, want, b)
			}
		}
	}
	return squares, n
}

// tight are the statistics whose intervals cover with exactly 95 %. The others cover with at least 95 %.
var tight = []string{count, sum, mean, variance, "difference of mean", "difference of share"}

// report compares the pooled coverage with 95 %.
func (s *study) report(t *testing.T) {
	t.Helper()
	pooled, count2 := s.run(t)
	var names []string
	for name := range pooled {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		got, spread, n := pooled[name].share()
		t.Logf("%-28s %.4f of %7.0f intervals, standard error %.5f: %+.1f of them", name, got, n, spread, (got-0.95)/spread)
		if got < 0.95-s.errors*spread || slices.Contains(tight, name) && got > 0.95+s.errors*spread {
			t.Errorf("%s: %.4f of the intervals have the truth, want 0.95 within %.1f times %.5f", name, got, s.errors, spread)
		}
	}
	if math.IsNaN(count2) {
		return
	}
	// The root mean square of n deviates has a standard error of √(1/2n).
	_, _, n := pooled[count].share()
	if off, most := math.Sqrt(count2), max(0.02, 6.11*math.Sqrt(0.5/n)); math.Abs(off-1) > most {
		t.Errorf("counts are off by %.4f of what is said, want 1 within %.3f", off, most)
	} else {
		t.Logf("counts are off by %.4f of what is said", off)
	}
}

// lifetime returns a lifetime mechanism at ε = 1 under the replace relation.
func lifetime(memory, batch uint64) mechanisms.Config {
	return under("blt", protection.Decay{Steps: memory}, dp.Replace, batch)
}

// synthetic returns events of two dimensions. Cells differ greatly in size, and values and weights are skewed.
func synthetic(n int, sizes ...int) []event.Event {
	rng := rand.New(rand.NewPCG(9, 9))
	events := make([]event.Event, n)
	for i := range events {
		var numbers []float64
		for _, size := range sizes {
			numbers = append(numbers, math.Floor(float64(size)*math.Pow(rng.Float64(), 2)))
		}
		numbers = append(numbers, 40*rng.ExpFloat64()-30+10*numbers[0])
		events[i] = event.Event{Numbers: numbers, Weight: 2.5 * rng.Float64()}
	}
	return events
}

// TestCoverage checks that 95 % intervals cover the truth in 95 % of cases, with weights, at two memories of one
// release. Seeds are pooled by their effective size. The tolerance is 6.11 standard errors, exceeded once in 10⁹.
// TestCoverageOfFlights has the same check at full length.
func TestCoverage(t *testing.T) {
	kind := lifetime(600, 1)
	kind.Budget.Epsilon = 30 // a large ε, so that numbers are shown after a few thousand events
	for _, s := range []study{
		{kind: kind, lines: []string{
			"CELLS=a=x|y|z,b=0:4:4", "VALUE=v=-60:180", "STATISTICS=count,sum,mean,variance", "WEIGHT_MAX=2",
			"MEMORIES=600,2000", "ARMS=a",
		}, events: synthetic(8000, 3, 4), every: 50, errors: 6.11},
		{kind: kind, lines: []string{
			"CELLS=a=x|y|z", "VALUE=v=-60:180", "STATISTICS=p50,p90,count*0.3", "WEIGHT_MAX=2", "MEMORIES=600,2000", "BINS=32",
		}, events: synthetic(8000, 3), every: 50, errors: 6.11},
		// Noise shifts a quantile by several bins, and events are spread out, so the coverage of these intervals must
		// be close to 95 %.
		{
			kind: tumbling(400), lines: []string{"VALUE=v=0:1", "STATISTICS=p20,p50,p90", "BINS=128"}, events: spread(24000),
			every: 1, errors: 6.11,
		},
	} {
		s.report(t)
	}
}

// spread returns n events without dimensions, whose values are evenly spread over [0, 1].
func spread(n int) []event.Event {
	rng := rand.New(rand.NewPCG(10, 9))
	events := make([]event.Event, n)
	for i := range events {
		events[i].Numbers = []float64{rng.Float64()}
	}
	return events
}

// TestCoverageOfFlights is TestCoverage over all flights of a file, by carrier and hour, at memories of 1000, 16 000
// and 250 000 flights, within three standard errors:
//
//	go test ./operators/aggregate -run TestCoverageOfFlights -flights flights.csv -timeout 2h -v
func TestCoverageOfFlights(t *testing.T) {
	if *flightsFile == "" {
		t.Skip("no -flights")
	}
	const carriers = "carrier=9E|AA|AS|B6|DL|EV|F9|FL|HA|MQ|OO|UA|US|VX|WN|YV"
	const cells, memories = "CELLS=" + carriers + ",hour=0:24:24", "MEMORIES=1000,16000,250000"
	for name, s := range map[string]study{
		"counts": {kind: lifetime(16000, 1), lines: []string{cells, memories}, events: flights(t, "carrier", "hour")},
		"means": {
			kind: lifetime(16000, 1), lines: []string{cells, memories, "VALUE=delay=-60:180", "STATISTICS=count,mean,variance"},
			events: flights(t, "carrier", "hour", "arr_delay"),
		},
		"quantiles": {kind: lifetime(2000, 8), lines: []string{
			cells, "MEMORIES=125,2000,31250", "VALUE=delay=-60:180", "STATISTICS=p50,p90,count*0.3", "BINS=32",
		}, events: flights(t, "carrier", "hour", "arr_delay")},
		"fine quantiles": {kind: lifetime(2000, 8), lines: []string{
			"CELLS=origin=EWR|JFK|LGA,hour=0:24:4", "MEMORIES=125,2000,31250", "VALUE=delay=-60:180",
			"STATISTICS=p50,p90,count*0.3", "BINS=1024",
		}, events: flights(t, "origin", "hour", "arr_delay")},
		"arms": {kind: lifetime(16000, 1), lines: []string{
			"CELLS=origin=EWR|JFK|LGA,hour=0:24:4", memories, "VALUE=delay=-60:180", "STATISTICS=count,mean", "ARMS=origin",
		}, events: flights(t, "origin", "hour", "arr_delay")},
	} {
		t.Run(name, func(t *testing.T) {
			if *flightsStudy != "" && *flightsStudy != name {
				t.Skip("not -study")
			}
			s.every, s.errors = 1000/int(s.kind.Batch), 3
			s.report(t)
		})
	}
}

// flights reads the given columns of all flights that have them.
func flights(t *testing.T, columns ...string) (events []event.Event) {
	t.Helper()
	choices := map[string][]string{
		"carrier": {"9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"},
		"origin":  {"EWR", "JFK", "LGA"},
	}
	flighttest.EachRow(t, *flightsFile, func(column func(name string) string) {
		var numbers []float64
		for _, name := range columns {
			text := column(name)
			if list := choices[name]; list != nil {
				numbers = append(numbers, float64(slices.Index(list, text)))
			} else if x, err := strconv.ParseFloat(text, 64); err == nil {
				numbers = append(numbers, x)
			}
		}
		if len(numbers) == len(columns) {
			events = append(events, event.Event{Numbers: numbers})
		}
	})
	return events
}
