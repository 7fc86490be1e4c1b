package plan

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// TestNumbersHaveThePlannedError compares the intervals that `oriel numbers` gives hours, days and weeks with those that
// plan announces: counts of once-laplace are equal, all others agree to 2 %. Numbers come from a real machine, with
// 4 000 events a step in each of two cells, all in the middle of the range.
func TestNumbersHaveThePlannedError(t *testing.T) {
	const each, cells, week = 4000, 2, 168
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		in := countingInput(t, "ORIEL_MECHANISM="+mechanism, "ORIEL_WINDOW=", "ORIEL_MEMORY=", "ORIEL_BATCH=8000",
			"ORIEL_CELLS=place=0:2:2", "ORIEL_STATISTICS=count,sum,mean", "ORIEL_EPSILON=2")
		if mechanism == "once-laplace" {
			in.Configured.Budget.Delta = 0
		}
		in.Clock.Clock.Length = 3600
		operator := in.Operator
		names, err := numbers.ParseNames(operators.DescriptorOf(operator))
		if err != nil {
			t.Fatal(err)
		}
		found := map[uint64]*numbers.Collector{}
		for _, n := range []uint64{1, 24, week} {
			if found[n], err = numbers.NewCollector(names, clock.Clock{Every: time.Duration(n) * time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		machine, extras := player(t, in), operator.Extras()
		for step := range int64(week) {
			for i := range int64(each * cells) {
				r := operators.Record{Event: event.Event{Numbers: []float64{float64(i%cells) + 0.5, 60}, Weight: 1}}
				r.Identity.Offset = step*each*cells + i
				machine.Add(r)
			}
			d := machine.Close(nil)[0]
			of := decision.Decision{
				Step: d.Step, Point: d.Point, Config: decision.Config{Mechanism: mechanism},
				Extras: []decision.ExtraMember{{Name: "seconds", JSON: "3600"}},
			}
			for k, x := range extras {
				text, err := json.Marshal(d.Extras[k].Numbers)
				if err != nil {
					t.Fatal(err)
				}
				of.Extras = append(of.Extras, decision.ExtraMember{Name: x.Name, JSON: string(text)})
			}
			monday := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
			for _, c := range found {
				if err := c.Add(of, monday+(step+1)*3600_000); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, v := range r.Numbers.Views {
			if !v.Configured {
				continue
			}
			n := max(1, v.Steps)
			rows, err := found[n].Rows(numbers.Query{})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows[:3*cells] {
				got, want := digits.Number(row.High-row.Low)/2, v.Count.Half
				switch row.Statistic {
				case "sum":
					want = v.Sum.Half
				case "mean":
					for _, x := range r.Numbers.Ratios {
						if x.View == v.View && x.Events == 100000 {
							want = x.Middle * 100000 / digits.Number(n*each)
						}
					}
				}
				if w := v.Count.Window; w != nil && row.Statistic == "count" &&
					(row.Low != row.Value+w[0] || row.High != row.Value+w[1]) {
					t.Errorf("%s, %d steps: %+v, planned %v", mechanism, n, row, *w)
				}
				checked++
				if !(math.Abs(float64(got/want)-1) <= 0.02) {
					t.Errorf("%s, %d steps, %s: ± %g, planned %g", mechanism, n, row.Statistic, got, want)
				}
			}
		}
		if checked != 3*3*cells {
			t.Errorf("%s: %d numbers", mechanism, checked)
		}
	}
}
