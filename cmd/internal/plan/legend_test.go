package plan

import (
	"image/color"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"

	"oriel/cmd/internal/figure"
	"oriel/cmd/internal/figure/figuretest"
)

// thick is the width of lines of data, points. All other lines are thinner.
const thick = 1.8

// legendCoversNoLine checks each legend, which is a rectangle in the colour of the slide: it must cover no line of data
// that was drawn before it. It returns the number of legends.
func legendCoversNoLine(t testing.TB, s *figure.Slide) (legends int) {
	t.Helper()
	var lines []vg.Path
	var paper, ink color.Color
	stroke := vg.Length(0)
	for _, action := range figuretest.Actions(s) {
		switch a := action.(type) {
		case *recorder.SetColor:
			ink = a.Color
		case *recorder.SetLineWidth:
			stroke = a.Width
		case *recorder.Stroke:
			if stroke >= thick {
				lines = append(lines, a.Path)
			}
		case *recorder.Fill:
			if paper == nil { // the first fill is the background of the slide
				paper = ink
			} else if ink == paper && len(lines) > 0 && straight(a.Path) {
				legends++
				for _, line := range lines {
					if at, covered := under(line, a.Path); covered {
						t.Errorf("%s: a line runs under the legend at %v", s.Title, at)
					}
				}
			}
		}
	}
	return legends
}

// straight reports whether a path consists of straight segments only.
func straight(path vg.Path) bool {
	for _, p := range path {
		if p.Type == vg.ArcComp {
			return false
		}
	}
	return true
}

// under returns a point at which a rectangle covers a line, or at which a line is within two points of the rectangle's
// lower edge.
func under(line, rectangle vg.Path) (at vg.Point, covered bool) {
	low, high := rectangle[0].Pos, rectangle[0].Pos
	for _, p := range rectangle {
		if p.Type != vg.CloseComp {
			low = vg.Point{X: min(low.X, p.Pos.X), Y: min(low.Y, p.Pos.Y)}
			high = vg.Point{X: max(high.X, p.Pos.X), Y: max(high.Y, p.Pos.Y)}
		}
	}
	for i := 1; i < len(line); i++ {
		if line[i].Type != vg.LineComp {
			continue
		}
		a, b := line[i-1].Pos, line[i].Pos
		for k := range 20 {
			part := vg.Length(k) / 19
			at := vg.Point{X: a.X + part*(b.X-a.X), Y: a.Y + part*(b.Y-a.Y)}
			if at.X > low.X && at.X < high.X && at.Y > low.Y-2 && at.Y < high.Y {
				return at, true
			}
		}
	}
	return vg.Point{}, false
}
