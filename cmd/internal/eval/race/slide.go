package race

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
)

// Slide draws the running loss along the streams, and the reliability of predicted probabilities. For losses without
// probabilities it draws the loss of each stretch instead.
func (r *Report) Slide() *figure.Slide {
	odds := r.Rows[0].Reliability != nil
	left := &figure.Chart{
		X: figure.Axis{Name: "events of a stream"}, Y: figure.Axis{Name: "loss so far, mean"}, Settling: true,
	}
	right := &figure.Chart{
		X: figure.Axis{Name: "events of a stream"}, Y: figure.Axis{Name: "loss of each stretch"}, Settling: true,
	}
	if odds {
		right = &figure.Chart{
			X: figure.Axis{Name: "predicted probability"}, Y: figure.Axis{Name: "came true"}, Diagonal: true,
		}
	}
	slide := &figure.Slide{
		Title: r.Title,
		Subtitle: fmt.Sprintf("%d events in %s · each scored before it is learned from · labels %s later · mean of %s",
			r.Events, digits.Counted(r.Streams, "stream"), r.Delay, digits.Counted(r.Seeds, "seed")),
		Notes: []string{"no privacy and " + r.base() + " are computed without privacy; settings chosen on private data are outside the guarantee"},
		Left:  left, Right: right, Share: 0.62,
	}
	length := float64(r.Events) / float64(r.Streams)
	if r.band != nil {
		right = bandChart(r.band, length)
		slide.Right, slide.Share = right, 0.5
	}
	several := slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Kind == KindPrivate && row.Mechanism != r.Rows[0].Mechanism
	})
	base, bare := r.Rows[len(r.Rows)-1].Loss.Mean, digits.Number(math.Inf(1))
	for i := range r.Rows {
		if r.Rows[i].Kind == KindReference {
			bare = min(bare, r.Rows[i].Loss.Mean)
		}
	}
	// The chart omits losses that exceed the base by more than this, because they would flatten its rest.
	worst := max(base, bare) + max(base-bare, bare-base)
	var far []string
	for _, row := range r.Rows {
		if row.Kind == KindReference && row.Loss.Mean > bare {
			continue // there are several learners: only the best is drawn
		}
		name := row.label(several)
		if row.Loss.Mean > worst {
			far = append(far, fmt.Sprintf("%s (%.4f)", name, row.Loss.Mean))
			continue
		}
		line := figure.Line{Look: figure.Look(len(left.Lines)), Width: 1.8}
		if row.Kind == KindPrivate {
			line.Width = 2.8
		}
		so, then := line, line
		so.End, so.Points = name, along(length, row.Curve)
		switch {
		case r.band != nil:
			then.Points = along(length, row.WithinStretch)
		case odds:
			then.Points = row.believed()
		default:
			then.Points = along(length, row.Stretch)
		}
		left.Lines, right.Lines = append(left.Lines, so), append(right.Lines, then)
	}
	if far != nil {
		slide.Notes = append(slide.Notes, "not drawn, since far above the "+r.base()+": "+strings.Join(far, "; "))
	}
	return slide
}

// along returns the values of a stream's stretches as points, each at the end of its stretch.
func along(length float64, values []digits.Number) (points []figure.Point) {
	for k, x := range values {
		points = append(points, figure.Point{X: length * float64(k+1) / Stretches, Y: float64(x)})
	}
	return points
}

// believed returns, by predicted probability, the share of events that came true. The base rate has no such points.
func (row *Row) believed() (points []figure.Point) {
	whole := 0.0
	for _, b := range row.Reliability {
		whole += b.Weight
	}
	for _, b := range row.Reliability {
		if row.Kind != KindBase && b.Weight > leastShare*whole {
			points = append(points, figure.Point{X: float64(b.Predicted), Y: float64(b.Share)})
		}
	}
	return points
}

// leastShare is the smallest share of events for which a bin is drawn in the reliability diagram. Smaller bins are
// mostly noise.
const leastShare = 0.002

// label returns a row's name, which contains the settings that differ between rows.
func (row *Row) label(several bool) string {
	if row.Kind == KindBase {
		return row.Name
	}
	text := row.Name
	if row.Kind == KindPrivate {
		text = fmt.Sprintf("ε = %g", math.Round(row.Epsilon*1e4)/1e4)
		if several {
			return row.Name + ", " + text
		}
		if short := row.Terms.Short(); short != "" {
			text += ", " + short
		}
	}
	return text
}
