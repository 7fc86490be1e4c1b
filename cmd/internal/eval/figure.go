package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/plan"
)

// Figure is the slide: the loss so far along the streams, and how far predicted probabilities can be believed; of
// losses without probabilities, the loss of each stretch.
func (r *Report) Figure(title string) *plan.Curves {
	c := &plan.Curves{
		Title: title,
		Subtitle: fmt.Sprintf("%d events in %s · each scored before it is learned from · labels %s later · mean of %s",
			r.Events, counted(r.Streams, "stream"), r.Delay, counted(r.Seeds, "seed")),
		Notes: []string{"no privacy and base rate are computed without privacy; settings chosen on private data are outside the guarantee"},
		Left:  plan.Axes{X: "events of a stream", Y: "loss so far, mean"},
	}
	length := float64(r.Events) / float64(r.Streams)
	odds := r.Rows[0].Reliability != nil
	several := slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Kind == KindPrivate && row.Mechanism != r.Rows[0].Mechanism
	})
	if odds {
		c.Right = plan.Axes{X: "predicted probability", Y: "came true", Diagonal: true}
	} else {
		c.Right = plan.Axes{X: "events of a stream", Y: "loss of each stretch"}
	}
	base, bare := r.Rows[len(r.Rows)-1].Loss.Mean, Number(math.Inf(1))
	for i := range r.Rows {
		if r.Rows[i].Kind == KindReference {
			bare = min(bare, r.Rows[i].Loss.Mean)
		}
	}
	// What is worse than learning nothing by so much would flatten the rest.
	worst := max(base, bare) + max(base-bare, bare-base)
	var left []string
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Kind == KindReference && row.Loss.Mean > bare {
			continue // of several learners, the best
		}
		line := plan.CurveLine{Name: row.label(several), Bold: row.Kind == KindPrivate}
		if row.Loss.Mean > worst {
			left = append(left, fmt.Sprintf("%s (%.4f)", line.Name, row.Loss.Mean))
			continue
		}
		for k := range Stretches {
			x := length * float64(k+1) / Stretches
			line.Left = append(line.Left, [2]float64{x, float64(row.Curve[k])})
			if !odds {
				line.Right = append(line.Right, [2]float64{x, float64(row.Stretch[k])})
			}
		}
		whole := 0.0
		for _, b := range row.Reliability {
			whole += b.Weight
		}
		for _, b := range row.Reliability {
			if row.Kind != KindBase && b.Weight > leastShare*whole {
				line.Right = append(line.Right, [2]float64{float64(b.Predicted), float64(b.Share)})
			}
		}
		c.Lines = append(c.Lines, line)
	}
	if left != nil {
		c.Notes = append(c.Notes, "not drawn, since far above the base rate: "+strings.Join(left, "; "))
	}
	return c
}

// leastShare of the events makes a point of the reliability diagram: fewer are noise.
const leastShare = 0.002

// label names a row by what others have otherwise.
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
