package papers

import (
	"bytes"
	"cmp"
	"image/color"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// slide is a picture of 16:9 with two charts, side by side.
type slide struct {
	title, subtitle string
	left, right     chart
}

// Sizes of a slide, points.
const (
	slideWidth  = 960
	slideHeight = 540
	margin      = 22
	panelGap    = 30

	titleSize  = 23
	labelSize  = 16
	smallSize  = 14
	bold       = 3 // equals font.WeightBold of golang.org/x/image
	axisWeight = 1.2
)

var (
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	quiet = color.NRGBA{0x5c, 0x5c, 0x5c, 0xff}
	faint = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
)

// looks are how lines are drawn, one after the other. They have the colours of Okabe and Ito, Color Universal Design
// (2008), which colour-blind readers can distinguish. Without colour, lines differ by their dashes.
var looks = []draw.LineStyle{
	{Color: color.NRGBA{0x00, 0x72, 0xb2, 0xff}},
	{Color: color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, Dashes: []vg.Length{11, 4}},
	{Color: color.NRGBA{0x00, 0x9e, 0x73, 0xff}, Dashes: []vg.Length{3, 3}},
	{Color: color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, Dashes: []vg.Length{11, 3, 3, 3}},
	{Color: color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, Dashes: []vg.Length{6, 3}},
	{Color: color.NRGBA{0x56, 0xb4, 0xe9, 0xff}, Dashes: []vg.Length{1.5, 3}},
	{Color: color.NRGBA{0x00, 0x00, 0x00, 0xff}, Dashes: []vg.Length{16, 4, 3, 4}},
	{Color: color.NRGBA{0x77, 0x77, 0x77, 0xff}, Dashes: []vg.Length{16, 4}},
}

// save writes a slide as SVG.
func (s slide) save(name string) error {
	canvas := vgsvg.New(slideWidth, slideHeight)
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin*0.7, -margin*0.8)
	width := c.Max.X - c.Min.X
	c.FillText(fitting(heavy(writing(titleSize, ink, text.XLeft, text.YTop)), s.title, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, s.title)
	c.Max.Y -= titleSize * 1.45
	c.FillText(fitting(writing(labelSize, quiet, text.XLeft, text.YTop), s.subtitle, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, s.subtitle)
	c.Max.Y -= labelSize * 2
	left, right := c, c
	at := c.Min.X + width*0.62
	left.Max.X, right.Min.X = at-panelGap/2, at+panelGap/2
	s.left.draw(left)
	s.right.draw(right)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// Liberation Sans comes first; for systems that lack it, the other fonts have the same metrics.
	return os.WriteFile(name, bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), 0o644)
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

// labels are names at the right ends of lines.
type labels struct {
	heights []float64
	names   []string
	colors  []color.Color
}

func (l *labels) style(i int) text.Style {
	return heavy(writing(smallSize, l.colors[i], text.XLeft, text.YCenter))
}

func (l *labels) Plot(c draw.Canvas, p *plot.Plot) {
	heights := make([]vg.Length, len(l.heights))
	for i, y := range l.heights {
		heights[i] = c.Y(p.Y.Norm(y))
	}
	for i, y := range distinct(heights, smallSize*1.15, c.Min.Y, c.Max.Y) {
		style := l.style(i)
		// small letters are vertically centred on the line's end
		c.FillText(style, vg.Point{X: c.Max.X + 11, Y: y + 0.13*style.Font.Size}, l.names[i])
	}
}

// GlyphBoxes reserves room for the labels at the right.
func (l *labels) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	widest := vg.Length(0)
	for i, name := range l.names {
		widest = max(widest, l.style(i).Width(name))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: widest + 12, Y: 1}}}}
}

// distinct moves heights as little as possible, so that neighbours are at least gap apart and all are within [low,
// high]. It keeps their order.
func distinct(heights []vg.Length, gap, low, high vg.Length) []vg.Length {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	out := slices.Clone(heights)
	for range 100 { // each pass halves the remaining overlap
		for k := 1; k < len(order); k++ {
			a, b := order[k-1], order[k]
			if short := gap - (out[b] - out[a]); short > 0 {
				out[a] -= short / 2
				out[b] += short / 2
			}
		}
		for _, i := range order {
			out[i] = min(max(out[i], low), high)
		}
	}
	return out
}
