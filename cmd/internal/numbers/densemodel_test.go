package numbers_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
)

// published is what the reference model reads of a decision.
type published struct {
	Step       uint64
	Time       int64
	Increments []float64
	Table      []float64 `json:"window_deviation"`
	Filter     []float64 `json:"increment_filter"`
}

// TestNumbersMatchADenseModel compares the package with an independent sum of increments by interval and cell, whose
// variance sums all pairs of steps. It covers the start of the stream. The covariance of two steps follows from the
// published filter. Values and deviations must agree to 1e-9.
func TestNumbersMatchADenseModel(t *testing.T) {
	d := serve(t, 3, 600, 10*time.Second, memory...)
	var all []published
	for line := range bytes.Lines(d.lines) {
		var one published
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	const steps, settled = 600, 4000 // numbers of coefficients of the filter: over the stream, and until they have decayed
	e, products := []float64{1}, 0.0
	poles, residues := all[0].Filter[1:][:len(all[0].Filter)/2], all[0].Filter[1+len(all[0].Filter)/2:]
	for j := range settled {
		x := 0.0
		for k, q := range poles {
			x -= residues[k] * 0x1p-30 * math.Pow(q*0x1p-30, float64(j))
		}
		e = append(e, x)
	}
	for _, x := range e {
		products += x * x
	}
	single := math.Pow(all[0].Table[0], 2) // variance of a count of one step
	covariance := make([]float64, steps*steps)
	for a := range steps {
		for b := range a + 1 {
			v := 0.0
			for s := range b + 1 {
				v += e[a-s] * e[b-s]
			}
			covariance[a*steps+b] = v * single / products
			covariance[b*steps+a] = covariance[a*steps+b]
		}
	}
	compareReference(t, collect(t, d, clock.Clock{Every: time.Hour}), d.names, all, covariance)
}

// compareReference compares the counts and sums of cells and marginals by the hour. covariance is a matrix of 600 rows
// and columns, with the covariances of two steps.
func compareReference(
	t *testing.T, c *numbers.Collector, names *numbers.Names, all []published, covariance []float64,
) {
	t.Helper()
	for _, of := range []struct {
		by    []string
		cells map[string][]int
	}{
		{nil, map[string][]int{
			"UA 0:12": {0}, "UA 12:24": {1}, "AA 0:12": {2}, "AA 12:24": {3}, "DL 0:12": {4}, "DL 12:24": {5},
		}},
		{[]string{"carrier"}, map[string][]int{"UA all": {0, 1}, "AA all": {2, 3}, "DL all": {4, 5}}},
		{[]string{"hour"}, map[string][]int{"all 0:12": {0, 2, 4}, "all 12:24": {1, 3, 5}}},
		{[]string{}, map[string][]int{"all all": {0, 1, 2, 3, 4, 5}}},
	} {
		rows := rowsOf(t, c, numbers.Query{By: of.by, Statistics: []string{"count", "sum"}})
		if len(rows) != 3*2*len(of.cells) { // three hours: the stream runs from 21:30 to 23:10
			t.Fatalf("%d rows by %v", len(rows), of.by)
		}
		for _, r := range rows {
			count, x, steps := 0.0, 0.0, []int{}
			for _, one := range all {
				if one.Time < r.Start.UnixMilli() || one.Time >= r.End.UnixMilli() {
					continue
				}
				for _, cell := range of.cells[strings.Join(r.Places, " ")] {
					count += one.Increments[cell]
					x += one.Increments[6+cell]
				}
				steps = append(steps, int(one.Step)-2, int(one.Step)-1) // steps counted from 0
			}
			want, v := count, 0.0
			for _, a := range steps {
				for _, b := range steps {
					v += covariance[a*600+b]
				}
			}
			v *= float64(len(of.cells[strings.Join(r.Places, " ")]))
			if r.Statistic == "sum" {
				n, s := 60*names.Deviations[0], 120*names.Deviations[1]
				want, v = 60*count+120*x, v*(n*n+s*s)
			}
			deviation := math.Sqrt(v)
			if math.Abs(r.Value-want) > 1e-9*(1+math.Abs(want)) || math.Abs(r.Deviation/deviation-1) > 1e-9 ||
				math.Abs(r.High-r.Value-1.959963984540054*deviation) > 1e-9*deviation || r.Steps != uint64(len(steps)) {
				t.Errorf("%v %v %s: %g ± %g of %d steps, want %g ± %g of %d", r.Start, r.Places, r.Statistic, r.Value,
					r.Deviation, r.Steps, want, deviation, len(steps))
			}
		}
	}
}
