package plan

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A slide of 16:9. Type is of a size to be read at the back of a room.
const (
	slideWidth  = 960 * vg.Length(1) // points
	slideHeight = 540 * vg.Length(1)
	dpi         = 144 // 1920 × 1080 pixels

	titleSize  = 23
	labelSize  = 16
	smallSize  = 14
	bold       = 3 // WeightBold of golang.org/x/image/font
	axisWeight = 1.2
)

var (
	ink   = color.NRGBA{A: 0xff, R: 0x22, G: 0x22, B: 0x22}
	quiet = color.NRGBA{A: 0xff, R: 0x5c, G: 0x5c, B: 0x5c}
	faint = color.NRGBA{A: 0xff, R: 0xdd, G: 0xdd, B: 0xdd}
	paper = color.NRGBA{A: 0xff, R: 0xff, G: 0xff, B: 0xff}
)

// style is how one mechanism is drawn. Colours are those of Okabe and Ito, Color Universal Design (2008), told apart by
// colour-blind readers; the dashes tell them apart without colour.
type style struct {
	color  color.NRGBA
	dashes []vg.Length
}

// looks are by position of the name in order, so that a mechanism looks the same in every plot.
var looks = []struct {
	name string
	look style
}{
	{"blt", style{color.NRGBA{0x00, 0x72, 0xb2, 0xff}, nil}},
	{"tree-gaussian", style{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, []vg.Length{11, 4}}},
	{"tree-gamma", style{color.NRGBA{0x00, 0x9e, 0x73, 0xff}, []vg.Length{3, 3}}},
	{"tree-laplace", style{color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, []vg.Length{11, 3, 3, 3}}},
	{"tree-gaussian-paper", style{color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, []vg.Length{6, 3}}},
	{"tree-gamma-paper", style{color.NRGBA{0x56, 0xb4, 0xe9, 0xff}, []vg.Length{1.5, 3}}},
	{"once-gaussian", style{color.NRGBA{0x00, 0x00, 0x00, 0xff}, []vg.Length{16, 4, 3, 4}}},
	{"once-gamma", style{color.NRGBA{0x77, 0x77, 0x77, 0xff}, []vg.Length{16, 4}}},
}

func lookOf(name string) style {
	for _, l := range looks {
		if l.name == name {
			return l.look
		}
	}
	return style{color: ink}
}

// line is the stroke of a curve.
func (l style) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: width, Dashes: l.dashes}
}

// writing is a text style of Liberation Sans, whose metrics are those of Arial and Helvetica.
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

// fitting returns the style at a size at which the label is at most so wide.
func fitting(style text.Style, label string, width vg.Length) text.Style {
	if w := style.Width(label); w > width && width > 0 {
		style.Font.Size *= width / w
	}
	return style
}

// panel is a plot with the names of its axes beside it: gonum/plot shrinks logarithmic axes to make room for names it
// takes to be elsewhere.
type panel struct {
	*plot.Plot
	x, y string
}

// newPanel returns a panel with logarithmic axes in the slide's style; its ranges are set by the caller.
func newPanel(x, y string) panel {
	p := panel{plot.New(), x, y}
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Width, axis.Color = axisWeight, quiet
		axis.Tick.Width, axis.Tick.Color, axis.Tick.Length = axisWeight, quiet, 6
		axis.Padding = 0
	}
	p.X.Tick.Label = writing(smallSize, ink, text.XCenter, text.YTop)
	p.Y.Tick.Label = writing(smallSize, ink, text.XRight, text.YCenter)
	return p
}

// inner is what the names of the axes leave of a canvas.
func (p panel) inner(c draw.Canvas) draw.Canvas {
	c.Min.Y += labelSize * 1.7
	if p.y != "" {
		c.Min.X += labelSize * 1.8
	}
	return c
}

func (p panel) draw(c draw.Canvas) {
	style := writing(labelSize, ink, text.XCenter, text.YBottom)
	inner := p.inner(c)
	data := p.DataCanvas(inner)
	middle := min(max((data.Min.X+data.Max.X)/2, c.Min.X+style.Width(p.x)/2), c.Max.X-style.Width(p.x)/2)
	c.FillText(style, vg.Point{X: middle, Y: c.Min.Y}, p.x)
	if p.y != "" {
		style.Rotation, style.YAlign = math.Pi/2, text.YTop
		c.FillText(style, vg.Point{X: c.Min.X, Y: (data.Min.Y + data.Max.Y) / 2}, p.y)
	}
	p.Draw(inner)
}

// logTicks marks 1, 2 and 5 of each decade of a short range, whole decades of a long one, and as many as fit of a very
// long one.
func logTicks(low, high float64, most int, label func(float64) string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	decades := math.Log10(high / low)
	every := max(1, int(math.Ceil(decades/float64(most))))
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for k := 1; k < 10; k++ {
			x := float64(k) * math.Pow(10, float64(e))
			if x < low*(1-1e-9) || x > high*(1+1e-9) {
				continue
			}
			mark := ""
			if k == 1 && e%every == 0 || (k == 2 || k == 5) && 3*decades <= float64(most) {
				mark = label(x)
			}
			if mark != "" || every == 1 {
				ticks = append(ticks, plot.Tick{Value: x, Label: mark})
			}
		}
	}
	return ticks
}

// rules are faint lines at the labelled ticks of an axis.
type rules struct{ across bool }

func (r rules) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: faint, Width: 0.8}
	axis := p.X
	if r.across {
		axis = p.Y
	}
	for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		switch at := axis.Norm(tick.Value); {
		case tick.IsMinor() || at < 0 || at > 1:
		case r.across:
			c.StrokeLine2(style, c.Min.X, c.Y(at), c.Max.X, c.Y(at))
		default:
			c.StrokeLine2(style, c.X(at), c.Min.Y, c.X(at), c.Max.Y)
		}
	}
}

// ends writes a label beside the right end of each line of a panel.
type ends struct {
	heights []float64
	labels  []string
	colors  []color.Color
}

func (e *ends) add(height float64, label string, c color.Color) {
	e.heights, e.labels, e.colors = append(e.heights, height), append(e.labels, label), append(e.colors, c)
}

func (e *ends) style(i int) text.Style {
	return heavy(writing(smallSize, e.colors[i], text.XLeft, text.YCenter))
}

func (e *ends) Plot(c draw.Canvas, p *plot.Plot) {
	heights := make([]vg.Length, len(e.heights))
	for i, y := range e.heights {
		heights[i] = c.Y(p.Y.Norm(y))
	}
	for i, y := range distinct(heights, smallSize*1.15, c.Min.Y, c.Max.Y) {
		level(c, e.style(i), vg.Point{X: c.Max.X + 11, Y: y}, e.labels[i])
	}
}

// GlyphBoxes leave room at the right.
func (e *ends) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	widest := vg.Length(0)
	for i, label := range e.labels {
		widest = max(widest, e.style(i).Width(label))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: widest + 12, Y: 1}}}}
}

// level writes text whose small letters are centred on a point.
func level(c draw.Canvas, style text.Style, at vg.Point, label string) {
	at.Y += 0.13 * style.Font.Size
	c.FillText(style, at, label)
}

// distinct moves heights, as little as it can, so that neighbours are at least a gap apart and all stay within [low,
// high]; their order stays.
func distinct(heights []vg.Length, gap, low, high vg.Length) []vg.Length {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	out := slices.Clone(heights)
	for range 100 { // each pass halves what is left of an overlap
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

// portable names fonts of the same metrics behind Liberation Sans in an SVG, for readers that do not have it.
func portable(svg string) string {
	return strings.ReplaceAll(svg, "font-family:Liberation Sans;",
		"font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
}
