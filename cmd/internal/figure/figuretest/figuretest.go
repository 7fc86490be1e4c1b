package figuretest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"oriel/cmd/internal/figure"
)

// least is the smallest legible font size, points.
const least = 12

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

// Actions returns the drawing actions of a slide.
func Actions(s *figure.Slide) []recorder.Action {
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
	for _, action := range Actions(s) {
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
