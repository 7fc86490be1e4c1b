package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
	"oriel/mechanisms"
)

// contenders fixes the order of mechanisms, so that a mechanism looks the same on every slide.
var contenders = []string{"blt", "tree-gaussian", "tree-gamma", "tree-laplace", "once-gaussian", "once-gamma"}

// lookOf returns the look of a mechanism: figure.Ink if it is not a contender.
func lookOf(mechanism string) figure.Look { return figure.Look(slices.Index(contenders, mechanism)) }

// Slide draws ε against age, and the error of every compared mechanism.
func (r *Report) Slide() *figure.Slide { return r.slide(r.lines()) }

func (r *Report) slide(lines []line) *figure.Slide {
	return &figure.Slide{
		Title: r.title(), Subtitle: r.subtitle(), Notes: r.footnote(),
		Left: r.ageChart(lines), Right: r.errorPanel(), Share: 0.6,
	}
}

// errorPanel draws the optimum and the error of each mechanism of the age panel that releases prefix sums.
func (r *Report) errorPanel() figure.Panel {
	if r.Numbers != nil {
		return r.Numbers.panel()
	}
	all := &figure.Rows{
		Name:      "rms error of a coordinate of the sum, loss units",
		Reference: float64(r.Optimum.RMSCoordinate), Called: "optimum",
	}
	if r.Setting.users() {
		all.Called = "optimum for one event"
	}
	once := r.Setting.span() == 0
	for _, m := range r.Mechanisms {
		if !m.Configured && (factsOf(m.Name).Structure == mechanisms.PerStep) != once {
			continue
		}
		row := figure.Row{
			Name: m.called(), Bold: m.Configured, Look: lookOf(m.Name), Value: m.RMSCoordinate,
			Text: digits.Four(m.RMSCoordinate),
		}
		if m.OverOptimum.Known() {
			row.Detail = "  variance " + digits.Upper(m.OverOptimum) + " × optimum"
		}
		all.Rows = append(all.Rows, row)
	}
	return all
}

// mostRows is the number of rows for which a slide has room.
const mostRows = 10

// panel draws the half-width of a count in every view, up to mostRows views.
func (n *Numbers) panel() figure.Panel {
	all := &figure.Rows{Name: "± of a count at 95 %, " + n.Counted, Reference: math.NaN()}
	for _, v := range n.Views[:min(len(n.Views), mostRows)] {
		row := figure.Row{
			Name: v.View, Bold: v.Configured, Look: lookOf(v.Mechanism),
			Value: float64(v.Count.Half), Text: plusMinus(v.Count.Half),
		}
		if !v.Configured {
			row.Detail = "  " + v.Mechanism
		} else if v.OverOptimum.Known() {
			row.Detail = "  variance " + digits.Upper(v.OverOptimum) + " × optimum"
		}
		all.Rows = append(all.Rows, row)
	}
	return all
}

// title returns the claimed guarantee, which is the title of the slide.
func (r *Report) title() string {
	s := r.Setting
	return fmt.Sprintf("%s: ε = %s for %s", s.Mechanism, digits.Upper(r.Mechanisms[0].Epsilon), s.terms.Words().Claim)
}

// optimumNote states the conditions under which no mechanism is better than the optimum.
const optimumNote = "optimum: the smallest error that any data-independent Gaussian mechanism can have with the same guarantee"

const decayingNote = optimumNote + "; other rows: prefix sums of a window"

// footnote returns the definition of the optimum, and the mechanisms that the slide omits, with the reasons.
func (r *Report) footnote() []string {
	var lines []string
	switch {
	case decays(r.Setting.terms.Scope):
		lines = append(lines, decayingNote)
	case r.Optimum.RMSCoordinate.Known():
		lines = append(lines, optimumNote)
	}
	why := map[string][]string{}
	for _, m := range r.Mechanisms {
		switch {
		case m.Configured:
		case r.Numbers != nil:
		case (factsOf(m.Name).Structure == mechanisms.PerStep) != (r.Setting.span() == 0):
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

// subtitle returns the part of the setting that the title does not state.
func (r *Report) subtitle() string {
	s := r.Setting
	var parts []string
	if d := r.Mechanisms[0].Delta; d > 0 {
		parts = append(parts, fmt.Sprintf("δ = %g", d))
	}
	parts = append(parts, "adjacency "+s.Adjacency)
	parts = append(parts, s.terms.Details()...)
	if r.Numbers != nil {
		parts = append(parts, digits.Counted(r.Numbers.Cells, "cell"))
	} else {
		parts = append(parts, digits.Counted(s.Dimension, "coordinate"), fmt.Sprintf("clip %g", s.Clip))
	}
	if s.Batch > 1 {
		parts = append(parts, digits.Counted(s.Batch, "event")+" a step")
	}
	if long := r.duration(); long != "" {
		name := s.terms.Words().Letter
		parts = append(parts, fmt.Sprintf("%s = %s at %g events per second", name, long, float64(s.EventsPerSecond)))
	}
	return strings.Join(parts, " · ")
}
