package figure

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Slide is a picture of two panels, side by side, or of several such strips, one below the other.
type Slide struct {
	Title, Subtitle string
	Notes           []string // text below the panels, wrapped to the width of the slide
	Heading         string   // text above the first strip; empty: none
	Left, Right     Panel    // the first strip
	Below           []Strip  // further strips
	Share           float64  // share of the width for the left panels, between 0 and 1
	Dark            bool     // light text on a dark ground, for dark pages
}

// Strip is two panels, side by side.
type Strip struct {
	Heading     string // text above the panels; empty: none
	Left, Right Panel
}

// Panel is a *Chart or *Rows.
type Panel interface {
	panel(t theme) panel
}

// CheckFile refuses a file name whose ending is not a format of Save.
func CheckFile(name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg", ".png":
		return nil
	}
	return fmt.Errorf("%q: ends neither in .svg nor in .png", name)
}

// Save writes a slide as SVG or PNG, by the name's ending.
func (s *Slide) Save(name string) error {
	if err := CheckFile(name); err != nil {
		return err
	}
	encode := s.SVG
	if strings.ToLower(filepath.Ext(name)) == ".png" {
		encode = s.PNG
	}
	data, err := encode()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, data, 0o644)
}

// SVG returns the slide as a scalable picture, whose text can be selected.
func (s *Slide) SVG() ([]byte, error) {
	canvas := vgsvg.New(s.Size())
	s.Draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	// Liberation Sans comes first; for systems that lack it, the other fonts have the same metrics.
	return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), err
}

// PNG returns the slide as a picture of 1920 × 1080 pixels, or of more below for further strips.
func (s *Slide) PNG() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(s.Size()), vgimg.UseDPI(dpi))
	s.Draw(draw.New(canvas))
	var b bytes.Buffer
	// takes half the time of the default; the file is a fifth larger
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err := encoder.Encode(&b, canvas.Image())
	return b.Bytes(), err
}

// MostStrips is the largest number of strips that a slide has room for: five statistics of two settings fit.
const MostStrips = 12

// Stack sets the strips of a slide, of which there must be one or more.
func (s *Slide) Stack(strips []Strip) {
	s.Heading, s.Left, s.Right, s.Below = strips[0].Heading, strips[0].Left, strips[0].Right, strips[1:]
}

// Size returns the width and the height of the slide, points.
func (s *Slide) Size() (width, height vg.Length) {
	return slideWidth, slideHeight + stripHeight*vg.Length(len(s.Below))
}

// Draw draws the slide on a canvas of its Size.
func (s *Slide) Draw(c draw.Canvas) {
	t := light
	if s.Dark {
		t = night
	}
	c = s.frame(c, t)
	strips := slices.Concat([]Strip{{s.Heading, s.Left, s.Right}}, s.Below)
	height := (c.Max.Y - c.Min.Y) / vg.Length(len(strips))
	for i, strip := range strips {
		own := c
		own.Max.Y -= height * vg.Length(i)
		if own.Min.Y = own.Max.Y - height; i+1 < len(strips) {
			own.Min.Y += stripGap
		}
		if strip.Heading != "" {
			style := heavy(writing(labelSize, t.ink, text.XLeft, text.YTop))
			own.FillText(style, vg.Point{X: own.Min.X, Y: own.Max.Y}, strip.Heading)
			own.Max.Y -= labelSize * 1.6
		}
		left, right := own, own
		at := own.Min.X + (own.Max.X-own.Min.X)*vg.Length(s.Share)
		left.Max.X, right.Min.X = at-panelGap/2, at+panelGap/2
		strip.Left.panel(t).draw(left)
		strip.Right.panel(t).draw(right)
	}
}

const (
	margin   = 22 // margin around the slide, points
	panelGap = 30
	stripGap = 14
)

// frame clears a canvas, draws title, subtitle and notes, and returns the canvas between them.
func (s *Slide) frame(c draw.Canvas, t theme) draw.Canvas {
	c.SetColor(t.paper)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin*0.7, -margin*0.8)
	width := c.Max.X - c.Min.X
	c.FillText(fitting(heavy(writing(titleSize, t.ink, text.XLeft, text.YTop)), s.Title, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, s.Title)
	c.Max.Y -= titleSize * 1.45
	c.FillText(fitting(writing(labelSize, t.quiet, text.XLeft, text.YTop), s.Subtitle, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, s.Subtitle)
	c.Max.Y -= labelSize * 2
	small := writing(smallSize, t.quiet, text.XLeft, text.YBottom)
	for _, line := range slices.Backward(wrapped(small, s.Notes, width)) {
		c.FillText(small, c.Min, line)
		c.Min.Y += smallSize * 1.4
	}
	if len(s.Notes) > 0 {
		c.Min.Y += smallSize * 0.4
	}
	return c
}

// wrapped breaks lines that are wider than the slide, between words.
func wrapped(style text.Style, lines []string, width vg.Length) []string {
	var all []string
	for _, line := range lines {
		now := ""
		for _, word := range strings.Fields(line) {
			if now != "" && style.Width(now+" "+word) > width {
				all, now = append(all, now), ""
			}
			now = strings.TrimPrefix(now+" "+word, " ")
		}
		all = append(all, now)
	}
	return all
}
