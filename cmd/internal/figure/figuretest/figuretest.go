package figuretest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"io"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"oriel/cmd/internal/figure"
)

const (
	least = 12  // smallest legible font size, points
	thick = 1.8 // width of lines of data, points; all other lines are thinner
)

// Texts returns the texts of a slide, from its SVG.
func Texts(t testing.TB, s *figure.Slide) (all []string) {
	t.Helper()
	svg, err := s.SVG()
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for decoder := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text"
		case xml.CharData:
			if inside {
				all = append(all, string(x))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

// Legible checks that no text is clipped, too small, or over another text.
func Legible(t testing.TB, s *figure.Slide) {
	t.Helper()
	width, height := s.Size()
	all := boxes(s)
	for i, a := range all {
		if a.size < least {
			t.Errorf("%s: %q has %g points", s.Title, a.text, a.size)
		}
		if a.left < 4 || a.right > width-4 || a.bottom < 4 || a.top > height-4 {
			t.Errorf("%s: %q leaves the slide: %+v", s.Title, a.text, a)
		}
		for _, b := range all[:i] {
			if a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top {
				t.Errorf("%s: %q and %q overlap: %+v %+v", s.Title, a.text, b.text, a, b)
			}
		}
	}
}

// actions returns the drawing actions of a slide.
func actions(s *figure.Slide) []recorder.Action {
	var canvas recorder.Canvas
	width, height := s.Size()
	s.Draw(draw.NewCanvas(&canvas, width, height))
	return canvas.Actions
}

// box is the position of a text, in points.
type box struct {
	text                     string
	size                     vg.Length
	left, right, bottom, top vg.Length
}

// boxes returns the positions of all texts. Rotated text keeps its centre and swaps width and height.
func boxes(s *figure.Slide) (all []box) {
	turned := false
	for _, action := range actions(s) {
		switch a := action.(type) {
		case *recorder.Rotate:
			turned = a.Angle != 0
		case *recorder.Pop:
			turned = false
		case *recorder.FillString:
			style := text.Style{Font: a.Font, Handler: plot.DefaultTextHandler}
			// Letters reach from a little below the baseline to three quarters of their size above it.
			b := box{
				a.String, a.Font.Size, a.Point.X, a.Point.X + style.Width(a.String), a.Point.Y - 0.05*a.Font.Size,
				a.Point.Y + 0.7*a.Font.Size,
			}
			if turned { // the text is turned left by 90°: (x, y) is (y, −x) on the slide
				b = box{a.String, a.Font.Size, -b.top, -b.bottom, b.left, b.right}
			}
			all = append(all, b)
		}
	}
	return all
}

// LegendCoversNoLine checks each legend, which is a rectangle in the colour of the slide: it must cover no line of data
// that was drawn before it. It returns the number of legends.
func LegendCoversNoLine(t testing.TB, s *figure.Slide) (legends int) {
	t.Helper()
	var lines []vg.Path
	var paper, ink color.Color
	stroke := vg.Length(0)
	for _, action := range actions(s) {
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
