package plan

import (
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"oriel/mechanisms/protection"
)

// line is ε at every age, of all mechanisms that share it.
type line struct {
	names      []string
	look       style
	configured bool
	all        bool // of all of a user's events, not of those of one window
	points     plotter.XYs
}

func (l line) name() string {
	if l.all {
		return l.names[0] + ", all of a user's events so far"
	}
	return strings.Join(l.names, ", ")
}

// lines returns the curves of mechanisms that prove the same budget for one window, and of the configured one whatever
// it proves: a curve of printed constants, which proves another, would be no comparison. Equal curves are one line.
func (r *Report) lines() []line {
	var all []*Mechanism
	for i := range r.Mechanisms {
		if m := &r.Mechanisms[i]; m.Configured || !factsOf(m.Name).Paper {
			all = append(all, m)
		}
	}
	points := make([]plotter.XYs, len(all))
	var done sync.WaitGroup
	for i, m := range all {
		done.Go(func() { points[i] = m.machine.points(r.lastAge()) })
	}
	done.Wait()
	var lines []line
	for i, m := range all {
		same := slices.IndexFunc(lines, func(l line) bool { return slices.Equal(l.points, points[i]) })
		switch {
		case len(points[i]) == 0:
		case same >= 0:
			lines[same].names = append(lines[same].names, m.called())
		default:
			lines = append(lines, line{
				names: []string{m.called()}, look: lookOf(m.Name), configured: m.Configured,
				points: points[i],
			})
		}
	}
	if r.Setting.users() && r.Setting.terms.Scope.End() == protection.Endless {
		m := &r.Mechanisms[0]
		whole := line{names: []string{m.Name}, look: lookOf(m.Name), all: true, points: m.machine.allPoints(r.lastAge())}
		whole.look.dashes = []vg.Length{2, 5}
		lines = slices.Insert(lines, 1, whole)
	}
	return lines
}

// lastAge is where the age panel ends: at the oldest age of the table, and where all ages are one, after as many steps
// as a window often has.
func (r *Report) lastAge() uint64 {
	last := r.Ages[len(r.Ages)-1].Steps
	if r.Setting.span() == 0 {
		last = max(last, 1_000_000)
	}
	return max(last, 2)
}

const (
	stairs  = 10 // windows whose steps are drawn one by one; later ones are hardly wider than the line
	dense   = 4  // points a decade of a smooth curve
	corners = 16 // steps a decade of a curve drawn in steps
)

// points returns ε from age 1 to last, where it is positive and finite. Steps are drawn by their upper corners, so that
// no point of the line is below the claim.
func (m *machine) points(last uint64) plotter.XYs {
	var xy plotter.XYs
	add := func(x, age uint64) {
		if e := m.guarantee.At(age).Epsilon; e > 0 && !math.IsInf(e, 1) {
			xy = append(xy, plotter.XY{X: float64(max(x, 1)), Y: e})
		}
	}
	scope := m.config.Scope
	w := scope.Span()
	switch {
	case w == 0:
		add(1, 1)
	case m.response != nil || m.plan.Decays():
		for _, age := range m.smoothAges(last, dense) {
			add(age, age)
		}
	default:
		for windows := uint64(1); times(windows-1, w) < last; {
			from := times(windows-1, w)
			add(from, from+1)
			if windows < stairs {
				add(min(times(windows, w), last), from+1)
				windows++
			} else {
				windows += windows / 3
			}
		}
	}
	add(last, last)
	return xy
}

// allPoints returns ε of all of a user's events of so many steps, drawn in steps by their upper corners: it is counted
// anew where more of a user's events come in, and never falls.
func (m *machine) allPoints(last uint64) plotter.XYs {
	var xy plotter.XYs
	for _, age := range append(m.smoothAges(last, corners), last) {
		e := m.guarantee.AtAll(age).Epsilon
		if !(e > 0) || math.IsInf(e, 1) {
			continue
		}
		if n := len(xy); n > 0 {
			xy = append(xy, plotter.XY{X: xy[n-1].X, Y: e})
		}
		xy = append(xy, plotter.XY{X: float64(age), Y: e})
	}
	return xy
}

// smoothAges returns ages below last at which a curve is drawn: so many a decade, and at user level where more of a
// user's events come in.
func (m *machine) smoothAges(last, decade uint64) []uint64 {
	var ages []uint64
	for k := range int(math.Log10(float64(last))*float64(decade)) + 1 {
		ages = append(ages, uint64(math.Round(math.Pow(10, float64(k)/float64(decade)))))
	}
	separation, several := m.config.Unit.EventSeparation()
	for k := uint64(1); k <= 4 && several; k++ {
		if age := times(k, separation); age < m.config.ExchangeSteps() {
			ages = append(ages, age, age+1)
		}
	}
	slices.Sort(ages)
	return slices.DeleteFunc(slices.Compact(ages), func(age uint64) bool { return age >= last })
}

// agePanel is ε against age.
func (r *Report) agePanel(lines []line) panel {
	age := "age of the event: steps since it was added"
	if r.Setting.users() {
		age = "age, steps: of a user's events of " + r.Setting.userWindow() + ", or of all"
	}
	p := newPanel(age, "ε of everything released since")
	p.X.Min, p.X.Max = 1, float64(r.lastAge())
	p.Y.Min, p.Y.Max = lossRange(lines, p.X.Max)
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, 8, short)
	p.Y.Tick.Marker = logTicks(p.Y.Min, p.Y.Max, 8, func(x float64) string { return digits(Number(x)) })
	p.Add(rules{across: true})
	if step := r.stepSeconds(); step > 0 {
		p.Add(clock{step})
	}
	at := claim{report: r}
	if !r.Setting.terms.Scope.ForLife() {
		p.Add(at)
	}
	for _, l := range slices.Backward(lines) { // the configured one is drawn last
		width := vg.Length(2.4)
		if l.configured {
			width = 3.6
		}
		p.Add(unranged{&plotter.Line{XYs: l.points, LineStyle: l.look.line(width)}})
	}
	p.Add(lastValues(lines), &legend{lines}, claimPoint{at})
	return p
}

const (
	legendShare = 0.66 // of the panel's width
	legendLine  = 23   // points
	panelHeight = 340
)

// lossRange returns a range of ε that leaves the legend the upper left corner, and the claim a line below.
func lossRange(lines []line, last float64) (low, high float64) {
	if len(lines) == 0 {
		return 0.1, 10
	}
	least, most, early := math.Inf(1), 0.0, 0.0
	for _, l := range lines {
		for _, xy := range l.points {
			least, most = min(least, xy.Y), max(most, xy.Y)
			if math.Log(xy.X) <= legendShare*math.Log(last) {
				early = max(early, xy.Y)
			}
		}
	}
	// Shares of the height: the lowest point stands at bottom, points below the legend end at middle, the highest at top.
	const bottom, top = 0.1, 0.96
	middle := top - (float64(len(lines))*legendLine+10)/panelHeight
	height := max(math.Log(most/least)/(top-bottom), math.Log(early/least)/(middle-bottom), math.Log(3))
	return least * math.Exp(-bottom*height), least * math.Exp((1-bottom)*height)
}

// lastValues writes the loss at the right end of each line, once where several end in one.
func lastValues(lines []line) *ends {
	e := &ends{}
	for _, l := range lines {
		y := l.points[len(l.points)-1].Y
		if label := Upper(Number(y)); !slices.Contains(e.labels, label) {
			e.add(y, label, l.look.color)
		}
	}
	return e
}

// unranged keeps a plotter from setting the range of the axes.
type unranged struct{ plot.Plotter }

// claim marks the window.
type claim struct{ report *Report }

func (m claim) Plot(c draw.Canvas, p *plot.Plot) {
	x := c.X(p.X.Norm(float64(m.report.Setting.span())))
	c.StrokeLine2(draw.LineStyle{Color: quiet, Width: 1, Dashes: []vg.Length{2, 3}}, x, c.Min.Y, x, c.Max.Y)
}

// claimPoint marks what is claimed: for the window, for the whole life, for ever.
type claimPoint struct{ claim }

func (m claimPoint) Plot(c draw.Canvas, p *plot.Plot) {
	row, s := &m.report.Mechanisms[0], m.report.Setting
	if !row.Epsilon.finite() {
		return
	}
	words := s.terms.Scope.Words()
	age := min(float64(words.At), p.X.Max)
	if words.At == 0 {
		age = math.Sqrt(p.X.Max)
	}
	at := vg.Point{X: c.X(p.X.Norm(age)), Y: c.Y(p.Y.Norm(float64(row.Epsilon)))}
	c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: 7.5, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyph(draw.GlyphStyle{Color: lookOf(row.Name).color, Radius: 6, Shape: draw.CircleGlyph{}}, at)
	label := "claim: ε = " + Upper(row.Epsilon) + words.Point
	style := heavy(writing(smallSize, ink, text.XLeft, text.YBottom))
	at.X = min(at.X+8, c.Max.X-style.Width(label)-8)
	c.FillText(style, vg.Point{X: at.X, Y: c.Min.Y + 9}, label)
}

// legend names the lines in the upper left, where none of them comes.
type legend struct{ lines []line }

func (*legend) style(l line) text.Style {
	style := writing(labelSize, ink, text.XLeft, text.YCenter)
	if l.configured {
		return heavy(style)
	}
	return style
}

// box is what the legend takes of a panel.
func (g *legend) box(c draw.Canvas) vg.Rectangle {
	widest := vg.Length(0)
	for _, l := range g.lines {
		widest = max(widest, g.style(l).Width(l.name()))
	}
	return vg.Rectangle{
		Min: vg.Point{X: c.Min.X + 6, Y: c.Max.Y - 6 - legendLine*vg.Length(len(g.lines))},
		Max: vg.Point{X: c.Min.X + 68 + widest, Y: c.Max.Y - 0.8},
	}
}

func (g *legend) Plot(c draw.Canvas, _ *plot.Plot) {
	box := g.box(c)
	c.SetColor(paper)
	c.Fill(box.Path())
	y := c.Max.Y - 15
	for _, l := range g.lines {
		c.StrokeLine2(l.look.line(3), c.Min.X+12, y, c.Min.X+54, y)
		level(c, g.style(l), vg.Point{X: c.Min.X + 62, Y: y}, l.name())
		y -= legendLine
	}
}
