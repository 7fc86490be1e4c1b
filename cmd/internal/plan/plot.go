package plan

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
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

// Figure is what can be drawn on a slide.
type Figure interface {
	draw(c draw.Canvas)
}

// CheckFile refuses a file name of no format that Save writes.
func CheckFile(name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg", ".png":
		return nil
	}
	return fmt.Errorf("%q: ends neither in .svg nor in .png", name)
}

// Save writes a figure as SVG, or as PNG of 1920 × 1080 pixels, by the name's ending. Equal figures give equal bytes.
func Save(f Figure, name string) error {
	if err := CheckFile(name); err != nil {
		return err
	}
	data, err := render(f, strings.ToLower(filepath.Ext(name)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, data, 0o644)
}

func render(f Figure, ending string) ([]byte, error) {
	var b bytes.Buffer
	if ending == ".svg" {
		canvas := vgsvg.New(slideWidth, slideHeight)
		f.draw(draw.New(canvas))
		_, err := canvas.WriteTo(&b)
		return []byte(portable(b.String())), err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(slideWidth, slideHeight), vgimg.UseDPI(dpi))
	f.draw(draw.New(canvas))
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // half the time of the slide, for a fifth of its size
	err := encoder.Encode(&b, canvas.Image())
	return b.Bytes(), err
}

var _ Figure = (*Report)(nil)

func (r *Report) draw(c draw.Canvas) { r.drawLines(c, r.lines()) }

// drawLines draws ε against age, and the error of every mechanism that is compared.
func (r *Report) drawLines(c draw.Canvas, lines []line) {
	left, right := slide(c, r.title(), r.subtitle(), r.footnote(), 0.6)
	r.agePanel(lines).draw(left)
	r.errorPanel().draw(right)
}

const (
	margin   = 22 // around everything, points
	panelGap = 30
)

// slide clears a canvas, writes title, subtitle and footnote and returns the two components of what is left; share is
// the left one's.
func slide(c draw.Canvas, title, subtitle string, footnote []string, share vg.Length) (left, right draw.Canvas) {
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin*0.7, -margin*0.8)
	width := c.Max.X - c.Min.X
	c.FillText(fitting(heavy(writing(titleSize, ink, text.XLeft, text.YTop)), title, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	c.Max.Y -= titleSize * 1.45
	c.FillText(fitting(writing(labelSize, quiet, text.XLeft, text.YTop), subtitle, width),
		vg.Point{X: c.Min.X, Y: c.Max.Y}, subtitle)
	c.Max.Y -= labelSize * 2
	small := writing(smallSize, quiet, text.XLeft, text.YBottom)
	for _, line := range slices.Backward(wrapped(small, footnote, width)) {
		c.FillText(small, c.Min, line)
		c.Min.Y += smallSize * 1.4
	}
	if len(footnote) > 0 {
		c.Min.Y += smallSize * 0.4
	}
	left, right = c, c
	left.Max.X, right.Min.X = c.Min.X+width*share-panelGap/2, c.Min.X+width*share+panelGap/2
	return left, right
}

// wrapped breaks lines that are wider than they may be, between words.
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

// title is the claim.
func (r *Report) title() string {
	s := r.Setting
	return fmt.Sprintf("%s: ε = %s for %s", s.Mechanism, Upper(r.Mechanisms[0].Epsilon), s.terms.Claim())
}

// optimumNote are the conditions under which nothing is better than the optimum.
const optimumNote = "optimum: the smallest error that any data-independent Gaussian mechanism can have with the same guarantee"

const decayingNote = optimumNote + "; other rows: prefix sums of a window"

// footnote says what the optimum is, and which mechanisms are not drawn and why.
func (r *Report) footnote() []string {
	var lines []string
	switch {
	case decays(r.Setting.terms.Scope):
		lines = append(lines, decayingNote)
	case r.Optimum.RMSCoordinate.known():
		lines = append(lines, optimumNote)
	}
	why := map[string][]string{}
	for _, m := range r.Mechanisms {
		switch {
		case m.Configured:
		case factsOf(m.Name).Paper:
			const reason = "(printed constants prove another ε)"
			why[reason] = append(why[reason], m.Name)
		case r.Numbers != nil:
		case factsOf(m.Name).PerStep != (r.Setting.span() == 0):
			const reason = "(no prefix sums: ages only)"
			why[reason] = append(why[reason], m.Name)
		}
	}
	for _, l := range r.LeftOut {
		const reason = "(do not fit the setting)"
		why[reason] = append(why[reason], l.Name)
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		parts = append(parts, strings.Join(why[reason], ", ")+" "+reason)
	}
	if len(parts) > 0 {
		lines = append(lines, "not drawn: "+strings.Join(parts, "; "))
	}
	return lines
}

// subtitle is the rest of the setting.
func (r *Report) subtitle() string {
	s := r.Setting
	var parts []string
	if d := r.Mechanisms[0].Delta; d > 0 {
		parts = append(parts, fmt.Sprintf("δ = %g", d))
	}
	parts = append(parts, "adjacency "+s.Adjacency)
	parts = append(parts, s.terms.Details()...)
	if r.Numbers != nil {
		parts = append(parts, counted(uint64(r.Numbers.Cells), "cell"))
	} else {
		parts = append(parts, counted(uint64(s.Dimension), "coordinate"), fmt.Sprintf("clip %g", s.Clip))
	}
	if s.Batch > 1 {
		parts = append(parts, counted(s.Batch, "event")+" a step")
	}
	if long := r.lasting(); long != "" {
		name := s.terms.Scope.Words().Letter
		parts = append(parts, fmt.Sprintf("%s = %s at %g events per second", name, long, float64(s.EventsPerSecond)))
	}
	return strings.Join(parts, " · ")
}
