package plan

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// clock is a second axis above: the same ages as lengths of time.
type clock struct{ seconds float64 } // of a step

// stepSeconds is how long a step takes, 0 without a rate.
func (r *Report) stepSeconds() float64 {
	if !r.Setting.EventsPerSecond.known() {
		return 0
	}
	return float64(r.Setting.Batch) / float64(r.Setting.EventsPerSecond)
}

// moments are the ticks of clock, those that come first before those between them.
var moments = []struct {
	name    string
	seconds float64
}{
	{"1 s", 1},
	{"1 min", 60},
	{"1 h", 3600},
	{"1 d", day},
	{"1 y", 365 * day},
	{"100 y", 36500 * day},
	{"1 ms", 1e-3},
	{"1 µs", 1e-6},
	{"30 d", 30 * day},
	{"10 y", 3650 * day},
	{"7 d", 7 * day},
	{"10 min", 600},
	{"10 s", 10},
	{"6 h", 6 * 3600},
}

func (k clock) style() text.Style { return writing(smallSize, quiet, text.XCenter, text.YBottom) }

func (k clock) Plot(c draw.Canvas, p *plot.Plot) {
	axis := draw.LineStyle{Color: quiet, Width: axisWeight}
	c.StrokeLine2(axis, c.Min.X, c.Max.Y, c.Max.X, c.Max.Y)
	type span struct{ from, to vg.Length }
	var taken []span
	for _, m := range moments {
		x := c.X(p.X.Norm(m.seconds / k.seconds))
		half := k.style().Width(m.name)/2 + 8
		overlaps := slices.ContainsFunc(taken, func(s span) bool { return x-half < s.to && x+half > s.from })
		if x < c.Min.X || x > c.Max.X+1 || overlaps {
			continue
		}
		c.StrokeLine2(axis, x, c.Max.Y, x, c.Max.Y+5)
		c.FillText(k.style(), vg.Point{X: x, Y: c.Max.Y + 6}, m.name)
		taken = append(taken, span{x - half, x + half})
	}
}

// GlyphBoxes leave room above.
func (k clock) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 1, Y: 8 + smallSize}}}}
}
