package plan

import (
	"math"
	"slices"
	"strings"
	"sync"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
	"oriel/mechanisms/protection"
)

// line is the curve of ε against age that all its mechanisms share.
type line struct {
	names      []string
	look       figure.Look
	configured bool
	all        bool // the line is for all events that a user ever has, not only for those within one user window
	points     []figure.Point
}

func (l line) name() string {
	if l.all {
		return l.names[0] + ", all of a user's events so far"
	}
	return strings.Join(l.names, ", ")
}

// lines returns the curves of all mechanisms. Mechanisms with equal curves share a line.
func (r *Report) lines() []line {
	all := make([]*Mechanism, len(r.Mechanisms))
	for i := range all {
		all[i] = &r.Mechanisms[i]
	}
	points := make([][]figure.Point, len(all))
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
		lines = slices.Insert(lines, 1, whole)
	}
	return lines
}

// lastAge returns the age at which the age panel ends: the oldest age of the table. If the loss is the same at all
// ages, it is at least a million steps.
func (r *Report) lastAge() uint64 {
	last := r.Ages[len(r.Ages)-1].Steps
	if r.Setting.span() == 0 {
		last = max(last, 1_000_000)
	}
	return max(last, 2)
}

const (
	// number of windows whose steps are drawn exactly; the steps of later windows are hardly wider than the line
	stairs  = 10
	dense   = 4  // number of points a decade of a smooth curve
	corners = 16 // number of corners a decade of a stepped curve
)

// points returns ε from age 1 to last, where ε is positive and finite. A stepped curve goes through the upper corners
// of its steps, so that no point of the line is below the claim.
func (m *machine) points(last uint64) []figure.Point {
	var xy []figure.Point
	add := func(x, age uint64) {
		if e := m.guarantee.At(age).Epsilon; e > 0 && !math.IsInf(e, 1) {
			xy = append(xy, figure.Point{X: float64(max(x, 1)), Y: e})
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

// allPoints returns ε of all of a user's events within each number of steps. It never falls, and rises where one more
// event of a user can fit. The curve goes through the upper corners of its steps.
func (m *machine) allPoints(last uint64) []figure.Point {
	var xy []figure.Point
	for _, age := range append(m.smoothAges(last, corners), last) {
		e := m.guarantee.AtAll(age).Epsilon
		if !(e > 0) || math.IsInf(e, 1) {
			continue
		}
		if n := len(xy); n > 0 {
			xy = append(xy, figure.Point{X: xy[n-1].X, Y: e})
		}
		xy = append(xy, figure.Point{X: float64(age), Y: e})
	}
	return xy
}

// smoothAges returns the ages below last at which a curve is drawn: `decade` of them in each decade, and at user level
// each age at which one more event of a user fits.
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

func (r *Report) ageChart(lines []line) *figure.Chart {
	age := "age of the event: steps since it was added"
	if r.Setting.users() {
		age = "age, steps: of a user's events of " + r.Setting.userWindow() + ", or of all"
	}
	c := &figure.Chart{
		X:      figure.Axis{Name: age, Log: true, Min: 1, Max: float64(r.lastAge()), Ticks: 8, NoGrid: true},
		Y:      figure.Axis{Name: "ε of everything released since", Log: true, Ticks: 8, Full: true},
		Legend: true, Seconds: r.stepSeconds(),
	}
	if !r.Setting.terms.Scope.ForLife() {
		c.Uprights = []float64{float64(r.Setting.span())}
	}
	var ends []string
	for _, l := range lines {
		drawn := figure.Line{Name: l.name(), Bold: l.configured, Look: l.look, Width: 2.4, Points: l.points}
		if l.configured {
			drawn.Width = 3.6
		}
		if l.all {
			drawn.Dashes = []float64{2, 5}
		}
		// If several lines end at the same loss, the chart prints the loss once.
		if end := digits.Upper(l.points[len(l.points)-1].Y); !slices.Contains(ends, end) {
			drawn.End, ends = end, append(ends, end)
		}
		c.Lines = append(c.Lines, drawn)
	}
	c.Marks = r.claim(c.X.Max)
	return c
}

// claim returns the marks of the claimed loss: for the window, for the whole life, or for ever.
func (r *Report) claim(last float64) []figure.Mark {
	row, words := &r.Mechanisms[0], r.Setting.terms.Words()
	if !row.Epsilon.Finite() {
		return nil
	}
	age := min(float64(words.At), last)
	if words.At == 0 {
		age = math.Sqrt(last)
	}
	return []figure.Mark{{
		X: age, Y: float64(row.Epsilon), Look: lookOf(row.Name),
		Text: "claim: ε = " + digits.Upper(row.Epsilon) + words.Point,
	}}
}

// stepSeconds returns how long a step takes, or 0 without a rate.
func (r *Report) stepSeconds() float64 {
	if !r.Setting.EventsPerSecond.Known() {
		return 0
	}
	return float64(r.Setting.Batch) / float64(r.Setting.EventsPerSecond)
}
