package experiment

import (
	"fmt"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
	"oriel/operators"
)

// Slide draws a strip for each experiment of the first stream with each setting, with seed 1: the effects against the
// number of events, and the width of their bands.
func (r *Report) Slide() *figure.Slide {
	slide := &figure.Slide{
		Title: "Effects, and bands that hold at all looks", Share: 0.58,
		Subtitle: fmt.Sprintf("line and band: private, %s %% · dots: the truth so far", digits.Four(100*(1-r.Alpha))),
		Notes:    []string{"the truth, and bands without privacy, are computed from the events themselves: for the data's owner"},
	}
	var strips []figure.Strip
	var omitted []string
	found := false
	for k := range r.Rows {
		row := &r.Rows[k]
		for index, ran := range row.ran {
			heading := fmt.Sprintf("ε = %s, %s", digits.Upper(row.Epsilon), row.Mechanism)
			if len(row.ran) > 1 {
				heading = fmt.Sprintf("experiment %d, %s", index+1, heading)
			}
			switch {
			case len(ran.private.path) == 0:
				omitted = append(omitted, heading+", which has no look")
				continue
			case len(strips) == figure.MostStrips:
				omitted = append(omitted, heading)
				continue
			}
			strip := r.strip(row, ran)
			strip.Heading = heading
			found = found || strip.Left.(*figure.Chart).Uprights != nil
			strips = append(strips, strip)
		}
	}
	if strips == nil { // only another stream has looks
		strips = []figure.Strip{{Left: &figure.Chart{}, Right: &figure.Chart{}, Heading: "no look in the first stream"}}
	}
	if found {
		slide.Notes = append(slide.Notes, "upright lines: where a verdict names an arm, and the experiment may stop")
	}
	if omitted != nil {
		slide.Notes = append(slide.Notes, "not drawn: "+strings.Join(omitted, "; "))
	}
	slide.Stack(strips)
	return slide
}

// strip draws one experiment.
func (r *Report) strip(row *Row, ran besides) figure.Strip {
	left := &figure.Chart{
		X: figure.Axis{Name: "events of the experiment", Ticks: 5},
		Y: figure.Axis{Name: "effect on the mean " + r.Outcome + ", against " + r.Control},
	}
	right := &figure.Chart{
		X:      figure.Axis{Name: "events of the experiment", Log: true},
		Y:      figure.Axis{Name: "half width of the first arm's band", Log: true},
		Legend: true,
	}
	path, exacts := ran.private.path, ran.exact.path
	for k, p := range path {
		for arm, e := range p.effects {
			if k == 0 {
				left.Lines = append(left.Lines, figure.Line{End: row.Arms[arm].Arm, Look: figure.Look(arm)})
			}
			l := &left.Lines[arm]
			l.Points = append(l.Points, figure.Point{X: p.events, Y: e.Value})
			l.Band = append(l.Band, figure.Interval{X: p.events, Low: e.Low, High: e.High})
			l.Truth = append(l.Truth, figure.Point{X: p.events, Y: exacts[k].truth[arm]})
		}
	}
	half := func(e operators.Estimate) float64 { return (e.High - e.Low) / 2 }
	right.Lines = []figure.Line{
		{Name: fmt.Sprintf("any look, ε = %s", digits.Upper(row.Epsilon)), Bold: true},
		{Name: "any look, without privacy", Look: 1},
		{Name: "one look alone, without privacy", Look: 2},
	}
	for k, p := range path {
		for i, e := range []operators.Estimate{p.effects[0], exacts[k].effects[0], exacts[k].peeked[0]} {
			if y := half(e); y > 0 && !math.IsInf(y, 0) {
				right.Lines[i].Points = append(right.Lines[i].Points, figure.Point{X: p.events, Y: y})
			}
		}
	}
	for _, at := range ran.private.found {
		if at > 0 {
			left.Uprights = append(left.Uprights, at)
		}
	}
	return figure.Strip{Left: left, Right: right}
}
