package aggregate

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
)

// TestIncrementsAddUp checks that the sum of published increments equals the published sums, for every period between
// decisions. It covers counts, values and bins, whose quantiles are then equal too.
func TestIncrementsAddUp(t *testing.T) {
	const bins = 8
	for _, every := range []string{"1", "5"} {
		kind := life(16, 2)
		kind.Budget.Epsilon = 50 // a large ε, so that decisions show the counts
		// With a memory of 2²⁰ steps, decay over 400 steps is negligible.
		c, m := config(t, kind, "CELLS=carrier=UA|AA", "VALUE=delay=0:10", "STATISTICS=count,sum,p50", "INCREMENTS=true",
			"EMIT_EVERY="+every,
			"MEMORIES=1048576", fmt.Sprint("BINS=", bins))
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{4}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		columns, shownQuantiles := make([]float64, 2*(2+bins)), 0
		for i, e := range drawn(&c.spec, 800, 4) {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				increments := extra(t, c, d, "increments")
				if len(increments) != len(columns) {
					t.Fatalf("%d increments", len(increments))
				}
				for k, u := range increments {
					columns[k] += u
				}
				for cell := range 2 {
					n, s := d.Point[cell], d.Point[2+cell]
					wantN, wantS := columns[cell], 5*columns[cell]+5*columns[2+cell]
					if math.Abs(n-wantN) > 1e-3*(1+math.Abs(wantN)+float64(d.Step)) ||
						math.Abs(s-wantS) > 1e-2*(1+math.Abs(wantS)+float64(d.Step)) {
						t.Fatalf("record %d: count %g of %g, sum %g of %g", i, n, wantN, s, wantS)
					}
					running := make([]float64, bins)
					for bin := range running {
						running[bin] = columns[4+2*bin+cell]
					}
					if running[bins-1] > 13*d.Extras[0].Numbers[0]*c.spec.columnDeviations()[1+bins] {
						shownQuantiles++
						if want := median(running, 0, 10); math.Abs(d.Point[4+cell]-want) > 0.02 {
							t.Fatalf("record %d: median %g, of increments %g", i, d.Point[4+cell], want)
						}
					}
				}
			}
		}
		if shownQuantiles < 20 {
			t.Errorf("%d medians were shown", shownQuantiles)
		}
	}
}

// median returns the point of [low, high] where running counts without noise reach half of all.
func median(running []float64, low, high float64) float64 {
	half, before := running[len(running)-1]/2, 0.0
	for bin, count := range running {
		if count >= half {
			part := float64(bin) + (half-before)/(count-before)
			return low + (high-low)*part/float64(len(running))
		}
		before = count
	}
	return high
}

// between is the published rule for windows whose length is not in the table: linear interpolation in the logarithms of
// length and deviation.
func between(table []float64, length float64) float64 {
	k := min(int(math.Log2(length)), len(table)-2)
	f := math.Log2(length) - float64(k)
	return math.Exp((1-f)*math.Log(table[k]) + f*math.Log(table[k+1]))
}

// TestWindowsOfUnseenLength checks that the rule is within a per cent of the exact deviation, at every length and
// memory.
func TestWindowsOfUnseenLength(t *testing.T) {
	for _, memory := range []uint64{2, 16, 1024, 65536, 1 << 20} {
		c, m := config(t, life(memory, 1), "CELLS=a=x|y", "INCREMENTS=true")
		stream := mechtest.Open(t, m, [32]byte{1})
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		table := extra(t, c, counted.Add(nil, operators.Record{Null: true})[0], "window_deviation")
		for w := 1.0; w < math.Exp2(float64(len(table)-1)); w = max(w+1, math.Floor(1.3*w)) {
			if got, want := between(table, w), stream.WindowDeviation(0, uint64(w)); math.Abs(got/want-1) > 0.01 {
				t.Errorf("memory %d, window of %g: %g, want %g", memory, w, got, want)
			}
		}
	}
}

// TestNoiseOfTheFirstSteps checks that the first steps of a stream have the noise that increment_filter
// implies, which is less than the noise of a window in the middle of a block. 30 streams have 5 760 sums of independent
// noise over their first 16 steps, counts and values of 96 cells. So 6.11·√(1/2/5 760) = 5.7 % is exceeded once in 10⁹.
// The deviation in the table would be 12 % too large.
func TestNoiseOfTheFirstSteps(t *testing.T) {
	const steps, cells, streams = 16, 96, 30
	c, m := config(t, life(16, 1), fmt.Sprint("CELLS=a=0:1:", cells), "VALUE=delay=0:10", "STATISTICS=sum",
		"INCREMENTS=true", fmt.Sprint("EMIT_EVERY=", steps))
	want, square, table := 0.0, 0.0, 0.0
	for stream := range byte(streams) {
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{stream}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		for range steps {
			for _, d := range counted.Add(nil, operators.Record{Null: true}) {
				windows, units := extra(t, c, d, "window_deviation"), c.spec.columnDeviations()
				for k, u := range extra(t, c, d, "increments") {
					square += u * u / (units[k/cells] * units[k/cells] * 2 * cells * streams)
				}
				want, table = windows[0]*windows[0]*firstSteps(extra(t, c, d, "increment_filter"), steps), windows[4]
			}
		}
	}
	if got := math.Sqrt(square / want); math.Abs(got-1) > 0.057 || table*table < 1.2*want {
		t.Errorf("the deviation is %.4f of the one that the filter says; %g of the table, %g", got, table, math.Sqrt(want))
	}
}

// firstSteps returns the variance of the sum of the first steps' increments, relative to the variance of one increment
// far from the start.
func firstSteps(filter []float64, steps int) (v float64) {
	m := len(filter) / 2
	single, sum := 0.0, 0.0
	for j := range 1000 {
		e := 1.0
		if j > 0 {
			e = 0
			for k, q := range filter[1 : m+1] {
				e -= filter[1+m+k] * 0x1p-30 * math.Pow(q*0x1p-30, float64(j-1))
			}
		}
		single += e * e
		if sum += e; j < steps {
			v += sum * sum
		}
	}
	return v / single
}

// TestSumsOfIncrementsHaveTheirDeviation checks that sums of published increments have the published deviation in each
// column, over windows whose length is in no table. 96 cells and 36 000 steps have 98 000 windows of 35 steps. Their
// sample deviation is off by more than 6.11·√(1/2/98 000) = 1.4 % once in 10⁹. The short form has half as many windows,
// with 6.11·√(1/2/47 000) = 2.0 %; the test allows 2.1 %. The rule itself may be off by a per cent. Windows of one cell
// are correlated, but negatively.
func TestSumsOfIncrementsHaveTheirDeviation(t *testing.T) {
	const length, every, cells = 35, 5, 96
	steps, most := tiertest.Runs(18000, 36000), tiertest.Runs(0.031, 0.024)
	kind := life(16, 1)
	kind.Budget = dp.Budget{Epsilon: 1, Delta: 1e-6}
	c, m := config(t, kind, fmt.Sprint("CELLS=a=0:1:", cells), "VALUE=delay=0:10", "STATISTICS=mean*0.5,p50*2", "BINS=4",
		"INCREMENTS=true",
		fmt.Sprint("EMIT_EVERY=", every))
	machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	var stated struct {
		Increments []string
		Deviations []float64 `json:"increment_deviations"`
	}
	if err := json.Unmarshal(c.Descriptor(), &stated); err != nil {
		t.Fatal(err)
	}
	var table []float64
	sums, squares, windows := make([]float64, 6*cells), make([]float64, 6), 0
	for step := range steps {
		for _, d := range counted.Add(nil, operators.Record{Null: true}) {
			table = extra(t, c, d, "window_deviation")
			for k, u := range extra(t, c, d, "increments") {
				sums[k] += u
			}
		}
		if step%length != length-1 {
			continue
		}
		if step > 1000 { // the start no longer influences the filter
			windows++
			for k, x := range sums {
				squares[k/cells] += x * x
			}
		}
		clear(sums)
	}
	for k, name := range stated.Increments {
		got, want := math.Sqrt(squares[k]/float64(windows*cells)), stated.Deviations[k]*between(table, length)
		if math.Abs(got/want-1) > most {
			t.Errorf("%s: %g, said %g, over %d windows", name, got, want, windows*cells)
		}
	}
}
