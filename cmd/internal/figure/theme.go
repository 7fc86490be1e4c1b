package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a slide of 16:9, whose text can be read at the back of a room.
const (
	slideWidth  = 960 * vg.Length(1) // width of a slide, points
	slideHeight = 540 * vg.Length(1) // height of a slide of one strip
	stripHeight = 400 * vg.Length(1) // height of each further strip
	dpi         = 144                // a slide has 1920 × 1080 pixels

	titleSize  = 23
	labelSize  = 16
	smallSize  = 14
	bold       = 3 // equals font.WeightBold of golang.org/x/image
	axisWeight = 1.2
)

// theme holds the colours of a slide, except those of looks.
type theme struct {
	dark                     bool
	ink, quiet, faint, paper color.NRGBA
}

var (
	light = theme{ink: gray(0x22), quiet: gray(0x5c), faint: gray(0xdd), paper: gray(0xff)}
	night = theme{dark: true, ink: gray(0xee), quiet: gray(0xb0), faint: gray(0x3c), paper: gray(0x16)}
)

func gray(x uint8) color.NRGBA { return color.NRGBA{x, x, x, 0xff} }

// Look determines how a line is drawn. Each look has its own colour and dash. Numbers beyond the last look start again
// at the first.
type Look int

// Ink is the look of lines that are not contenders: the colour of text, without dashes.
const Ink Look = -1

// looks have the colours of Okabe and Ito, Color Universal Design (2008), which colour-blind readers can distinguish.
// Without colour, looks differ by their dashes. A dark slide replaces the colours that would not be visible on it.
var looks = []struct {
	light, dark color.NRGBA
	dashes      []vg.Length
}{
	{color.NRGBA{0x00, 0x72, 0xb2, 0xff}, color.NRGBA{0x3d, 0x9b, 0xdc, 0xff}, nil},
	{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, []vg.Length{11, 4}},
	{color.NRGBA{0x00, 0x9e, 0x73, 0xff}, color.NRGBA{0x00, 0x9e, 0x73, 0xff}, []vg.Length{3, 3}},
	{color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, []vg.Length{11, 3, 3, 3}},
	{color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, []vg.Length{6, 3}},
	{color.NRGBA{0x56, 0xb4, 0xe9, 0xff}, color.NRGBA{0x9a, 0xd6, 0xf7, 0xff}, []vg.Length{1.5, 3}},
	{color.NRGBA{0x00, 0x00, 0x00, 0xff}, color.NRGBA{0xff, 0xff, 0xff, 0xff}, []vg.Length{16, 4, 3, 4}},
	{color.NRGBA{0x77, 0x77, 0x77, 0xff}, color.NRGBA{0x99, 0x99, 0x99, 0xff}, []vg.Length{16, 4}},
}

// Color returns the colour of a look on a light or a dark slide.
func (l Look) Color(dark bool) color.NRGBA {
	switch {
	case l < 0 && dark:
		return night.ink
	case l < 0:
		return light.ink
	case dark:
		return looks[int(l)%len(looks)].dark
	}
	return looks[int(l)%len(looks)].light
}

func (t theme) color(l Look) color.NRGBA { return l.Color(t.dark) }

// stroke returns the style of a line.
func (t theme) stroke(l *Line, width float64) draw.LineStyle {
	style := draw.LineStyle{Color: t.color(l.Look), Width: vg.Length(width)}
	if l.Dashes == nil && l.Look >= 0 {
		style.Dashes = looks[int(l.Look)%len(looks)].dashes
	}
	for _, length := range l.Dashes {
		style.Dashes = append(style.Dashes, vg.Length(length))
	}
	return style
}

// writing returns a text style of Liberation Sans, whose metrics are those of Arial and Helvetica.
func writing(size vg.Length, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

func heavy(s text.Style) text.Style {
	s.Font.Weight = bold
	return s
}

// fitting returns the style at the largest size at which the label is not wider than width.
func fitting(style text.Style, label string, width vg.Length) text.Style {
	if w := style.Width(label); w > width && width > 0 {
		style.Font.Size *= width / w
	}
	return style
}

// level draws text so that its small letters are vertically centred on a point.
func level(c draw.Canvas, style text.Style, at vg.Point, label string) {
	at.Y += 0.13 * style.Font.Size
	c.FillText(style, at, label)
}

// circle draws a filled circle.
func circle(c draw.Canvas, of color.Color, radius vg.Length, at vg.Point) {
	c.DrawGlyph(draw.GlyphStyle{Color: of, Radius: radius, Shape: draw.CircleGlyph{}}, at)
}
