package numbers_test

import (
	"slices"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/operators"
	"oriel/schemas/decision"
)

// TestTotalsOfWholeHours follows steps of ten minutes from the middle of an hour on. Nothing is shown before the first
// whole hour, then the numbers and intervals that `oriel numbers` gives it, also while the next hour runs and after an
// hour that lacks a step. A decision that is read twice counts once.
func TestTotalsOfWholeHours(t *testing.T) {
	counts := make([][2]int, 30)
	for i := range counts {
		counts[i] = [2]int{i, 100 * i}
	}
	names, lines := clocked(t, "once-laplace", 600, 6*490000+3, counts...)
	steps := &operators.Numbers{Read: func(d decision.Decision) ([]operators.Estimate, error) {
		return []operators.Estimate{{Value: d.Point[0], Shown: true}, {Value: d.Point[1], Shown: true}}, nil
	}}
	for _, cell := range names.Cells {
		steps.Names = append(steps.Names, operators.Named{Statistic: "count", Cell: cell, Memory: "step"})
	}
	descriptor := []byte(`{"cells":["a=x","a=y"],"statistics":["count"],"emit_every":1,` +
		`"views":[{"memory":0,"of":"the events of the step"}]}`)
	of, err := numbers.WithTotals(steps, descriptor, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(of.Names); n != 6 || of.Names[3] != (operators.Named{Statistic: "count", Cell: "a=y", Memory: "hour"}) ||
		of.Names[4].Memory != "day" || len(steps.Names) != 2 {
		t.Fatalf("%+v", of.Names)
	}
	hourly := collect(t, deployment{names: names, lines: join(lines)}, clock.Clock{Every: time.Hour})
	rows := rowsOf(t, hourly, numbers.Query{})
	for i, line := range lines {
		if i == 11 {
			continue // a step of the second whole hour
		}
		d, err := decision.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		all, err := of.Read(d)
		again, _ := of.Read(d)
		if err != nil || len(all) != 6 || !slices.Equal(all, again) || all[1].Value != float64(100*i) {
			t.Fatalf("step %d: %v, %+v, again %+v", i, err, all, again)
		}
		hour := 0 // of the rows: the first one, of three steps, and the third lack steps
		switch {
		case i >= 26:
			hour = 4
		case i >= 20:
			hour = 3
		case i >= 8:
			hour = 1
		}
		for cell := range 2 {
			r := rows[hour*2+cell]
			want := operators.Estimate{Value: r.Value, Low: r.Low, High: r.High, Shown: true}
			if i < 8 {
				want = operators.Estimate{}
			}
			if all[2+cell] != want || all[4+cell].Shown {
				t.Errorf("step %d, cell %d: %+v, want %+v", i, cell, all[2+cell:], want)
			}
		}
	}
}

func join(lines []string) (all []byte) {
	for _, line := range lines {
		all = append(append(all, line...), '\n')
	}
	return all
}

// TestTotalsAreOfSeveralSteps checks that spans of one step, of parts of steps and of no clock have no totals.
func TestTotalsAreOfSeveralSteps(t *testing.T) {
	descriptor := []byte(`{"cells":["a=x","a=y"],"statistics":["count","p50"],"emit_every":1,` +
		`"views":[{"memory":0,"of":"the events of the step"}]}`) // steps without increments have no quantiles together
	steps := &operators.Numbers{Names: []operators.Named{
		{Statistic: "count", Cell: "a=x"}, {Statistic: "count", Cell: "a=y"},
	}}
	for step, want := range map[time.Duration]int{
		0: 2, time.Second: 6, 45 * time.Minute: 4, time.Hour: 4, 24 * time.Hour: 2, 168 * time.Hour: 2,
	} {
		of, err := numbers.WithTotals(steps, descriptor, step)
		if err != nil || len(of.Names) != want {
			t.Errorf("%v: %v, %d names, want %d", step, err, len(of.Names), want)
		}
	}
}
