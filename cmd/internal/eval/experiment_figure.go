package eval

import (
	"fmt"
	"math"

	"oriel/cmd/internal/figure"
	"oriel/operators"
)

// Slide draws the results of the first setting with seed 1: the effects in the first stream against the number of
// events, and the width of their bands.
func (r *ExperimentReport) Slide() *figure.Slide {
	row := &r.Rows[0]
	left := &figure.Chart{
		X: figure.Axis{Name: "events of the experiment", Ticks: 5},
		Y: figure.Axis{Name: "effect on the mean " + r.Outcome + ", against " + r.Control},
	}
	right := &figure.Chart{
		X:      figure.Axis{Name: "events of the experiment", Log: true},
		Y:      figure.Axis{Name: "half width of the first arm's band", Log: true},
		Legend: true,
	}
	for k, p := range row.path {
		for arm, e := range p.effects {
			if k == 0 {
				left.Lines = append(left.Lines, figure.Line{End: row.Arms[arm].Arm, Look: figure.Look(arm)})
			}
			l := &left.Lines[arm]
			l.Points = append(l.Points, figure.Point{X: p.events, Y: e.Value})
			l.Band = append(l.Band, figure.Interval{X: p.events, Low: e.Low, High: e.High})
			l.Truth = append(l.Truth, figure.Point{X: p.events, Y: row.exact[k].truth[arm]})
		}
	}
	half := func(e operators.Estimate) float64 { return (e.High - e.Low) / 2 }
	widths := []figure.Line{
		{Name: fmt.Sprintf("any look, ε = %s", figure.Upper(row.Epsilon)), Bold: true},
		{Name: "any look, without privacy", Look: 1},
		{Name: "one look alone, without privacy", Look: 2},
	}
	for k, p := range row.path {
		exact := row.exact[k]
		for i, e := range []operators.Estimate{p.effects[0], exact.effects[0], exact.peeked[0]} {
			if y := half(e); y > 0 && !math.IsInf(y, 0) {
				widths[i].Points = append(widths[i].Points, figure.Point{X: p.events, Y: y})
			}
		}
	}
	right.Lines = widths
	slide := &figure.Slide{
		Title: "Effects, and bands that hold at all looks", Left: left, Right: right, Share: 0.58,
		Subtitle: fmt.Sprintf("%s, ε = %s · line and band: private, %s %% · dots: the truth so far", row.Mechanism,
			figure.Upper(row.Epsilon), figure.Digits(100*(1-r.Alpha))),
		Notes: []string{"the truth, and bands without privacy, are computed from the events themselves: for the data's owner"},
	}
	for _, at := range row.found {
		if at > 0 {
			left.Uprights = append(left.Uprights, at)
		}
	}
	if left.Uprights != nil {
		slide.Notes = append(slide.Notes, "upright lines: where a verdict names an arm, and the experiment may stop")
	}
	return slide
}
