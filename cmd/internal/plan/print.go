package plan

import (
	"fmt"
	"io"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms/steps"
)

// Print prints the report as readable text, with four digits. Losses and ratios are rounded up, errors to nearest.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.headline(), r.sensitivityLine())
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	part := func(title string, rows *digits.Table) {
		fmt.Fprintf(&b, "\n%s\n%s", title, rows)
	}
	switch {
	case r.Numbers != nil:
		r.Numbers.Tables(part)
	case r.Names != nil:
		fmt.Fprintf(&b, "\n%s\n%s", r.Names.Title(), r.Names.Text())
		part(r.Names.RowsTitle(), r.Names.Rows())
	default:
		part("Error of a release: the published sum against the true one, loss units", r.errorRows())
	}
	if len(r.Mechanisms[0].Components) > 0 {
		part("Components of a record's contribution: how far one event moves each, and the error of its release, loss units", r.componentRows())
	}
	if len(r.Mechanisms[0].Decisions) > 0 {
		part(r.decisionTitle(), r.decisionRows())
	}
	if r.Band != nil {
		part(r.Band.Title(), r.Band.Rows())
	}
	switch s := r.Setting; {
	case r.Clock != nil && r.Clock.Period != nil:
		part(r.Clock.PeriodTitle(), r.Clock.Rows())
		part("ε of "+s.userWindow()+": of one event, which another one of the user replaces, of a user, of k users together", r.groupRows())
	case !s.users():
		part("ε by age: the loss of everything released until an event is so old",
			r.ageRows(func(l Loss) digits.Number { return l.Epsilon }))
		part(r.groupTitle(), r.groupRows())
	default:
		part("ε by age: a user's events of "+s.userWindow()+", everything released until its first step is so old",
			r.ageRows(func(l Loss) digits.Number { return l.Epsilon }))
		part("ε of all of a user's events of so many steps, everything released in them", r.ageRows(func(l Loss) digits.Number { return l.All }))
		part("ε of "+s.userWindow()+": of one event, of a user, of k users together", r.groupRows())
	}
	part("Memory of a stream, and cost of a step", r.costRows())
	if r.Streams != nil {
		part(r.Streams.Title(), r.Streams.Rows())
		b.WriteString(r.Streams.Advice())
	}
	if r.Clock != nil {
		fmt.Fprintf(&b, "\n%s\n%s", r.Clock.Title(), r.Clock.Text())
	}
	if r.Ceiling != nil {
		b.WriteString("\n" + r.Ceiling.String())
	}
	if r.Advice != nil {
		fmt.Fprintf(&b, "\nAdvised, from the noise and the radius alone: public, whatever the data\n%s", r.Advice.String())
	}
	b.WriteString("\n" + r.notes())
	_, err := io.WriteString(out, b.String())
	return err
}

// groupTitle returns the title of the group table, which says which events form a group.
func (r *Report) groupTitle() string {
	if r.Setting.terms.Scope.ForLife() {
		return "ε of a group: k events of one person, all there ever are, " + r.Setting.change() + " together"
	}
	return "ε of a group: k events of one person in one window, exchanged together"
}

// headline returns the setting in one line.
func (r *Report) headline() string {
	s, length := r.Setting, r.Setting.terms.Brief(r.duration())
	parts := []string{s.Mechanism, length}
	parts = append(parts, r.stepText(), fmt.Sprintf("ε = %g", s.Epsilon))
	if s.Delta > 0 {
		parts = append(parts, fmt.Sprintf("δ = %g", s.Delta))
	}
	return strings.Join(append(parts, digits.Counted(s.Dimension, "coordinate")), ", ")
}

// stepText says how long a step is.
func (r *Report) stepText() string {
	if r.Setting.StepSeconds > 0 {
		return "steps of " + digits.Duration(float64(r.Setting.StepSeconds))
	}
	return digits.Counted(r.Setting.Batch, "event") + " a step"
}

// duration returns how long the window or the horizon lasts, or "" if the duration is not known.
func (r *Report) duration() string {
	steps := r.Setting.terms.Words().Steps
	if steps == 0 || !r.Setting.EventsPerSecond.Known() {
		return ""
	}
	return digits.Duration(float64(steps) * r.stepSeconds())
}

func (r *Report) sensitivityLine() string {
	s := r.Setting
	unit := "unit " + s.terms.Unit.Name() + s.terms.Words().Bound
	clip := ""
	if r.Numbers == nil {
		clip = fmt.Sprintf(", clip %g", s.Clip)
	}
	text := fmt.Sprintf("adjacency %s, %s%s\none event %s moves the sum of a step by Δ ≤ %g: %d lattice units of 2^%d",
		s.Adjacency, unit, clip, s.change(), s.Sensitivity, s.LatticeUnits, math.Ilogb(s.LatticeUnit))
	if m := s.UserValues; m > 1 {
		text += fmt.Sprintf("\nall that count of a user move it by up to %d·Δ together in the ℓ1 norm, and √%d·Δ in the ℓ2 norm: each value "+
			"has a coordinate of its own", m, m)
	}
	if s.UserEvents > 1 {
		text += fmt.Sprintf("\nall that count of a user move it by up to %d·Δ together, if they are in one step", s.UserEvents)
	}
	if r.Names != nil {
		text = fmt.Sprintf("adjacency %s, %s\none event %s moves the count of one name by 1", s.Adjacency, unit, s.change())
	}
	if parts := r.Mechanisms[0].Components; len(parts) > 1 {
		text = fmt.Sprintf("adjacency %s, %s, a contribution of %d components", s.Adjacency, unit, len(parts))
	}
	if s.Rule != "" {
		text += "\nΔ follows from " + s.Rule
	}
	if s.Steps != "" {
		text += "\n" + s.Steps
	}
	if s.Costs != nil {
		text += s.Costs.String()
	}
	if s.SealedStateBytes > 0 {
		text += "\nsealed state of a stream, all included: " + digits.Bytes(uint64(s.SealedStateBytes))
		if r.Clock != nil {
			text += fmt.Sprintf(", saved each second with records or without: %s a day in the changelog, until the broker compacts",
				digits.Bytes(uint64(s.SealedStateBytes)*uint64(steps.Day)))
		}
	}
	return text + r.publishedLine()
}

// publishedLine describes the published volume as readable text. It returns "" if the volume is unknown.
func (r *Report) publishedLine() string {
	s := &r.Setting
	switch {
	case r.stream.Published.Late > 0:
		return fmt.Sprintf("\ndecisions: not measured, because the first comes after %s events", digits.Count(r.stream.Published.Late))
	case !s.DecisionBytes.Known():
		return ""
	}
	text := fmt.Sprintf("\ndecisions: %s each", digits.Bytes(uint64(s.DecisionBytes)))
	if s.EventBytes.Known() {
		text += fmt.Sprintf(", %s for each event", digits.Bytes(uint64(math.Ceil(float64(s.EventBytes)))))
	}
	if s.DayBytes.Known() {
		text += ", " + digits.Bytes(uint64(s.DayBytes)) + " a day of one stream"
	}
	if r.stream.Published.Fixed {
		return text
	}
	return text + "\n(at first; up to 1.6 times that when all numbers have all their digits)"
}

// notes returns explanations for which the tables have no room.
func (r *Report) notes() string {
	lines := []string{"* configured. Losses and ratios are rounded up."}
	if r.Numbers != nil {
		lines = append(lines, r.Numbers.Notes()...)
	}
	if decays(r.Setting.terms.Scope) {
		lines = append(lines, "Optimum: the least variance in the long run that any Gaussian mechanism can have which releases every decaying sum and protects each",
			"event as much for ever. With a memory an event's loss rises for some H steps, and then never again; outside a window it goes on.")
	} else if r.Optimum.RMSCoordinate.Known() {
		lines = append(lines, "Optimum: the least variance that any Gaussian mechanism can have which releases every prefix sum and proves as much for a window",
			"of W steps, one event a user; no such bound is known for pure ε.")
	}
	if len(r.Mechanisms[0].Decisions) > 0 && r.Setting.Radius.Known() {
		lines = append(lines, "Noise above R/10 does not mean that nothing is learned: projection onto the set cuts it, and predictions feel only the part",
			"along their features. `oriel eval` on old or public events shows how much of the possible gain is kept.")
	}
	if !r.Setting.terms.Scope.ForLife() {
		lines = append(lines, "An event that left its window is not forgotten: its loss grows with age as shown.")
	}
	switch s := r.Setting; {
	case !opened.FactsOf(s.Mechanism).ReleasesSums():
		lines = append(lines, "No sum is released: decisions are draws, by scores whose noise the table says, and all that "+
			"one "+s.Unit+" moves lose "+drawsLoss(s)+".")
	case s.Draws:
		lines = append(lines, "Decisions hold draws of the stream's own, whose scores are of releases: they lose nothing more.")
	}
	for _, m := range r.Mechanisms {
		if m.Note != "" {
			lines = append(lines, m.called()+": "+m.Note)
		}
	}
	for _, l := range r.LeftOut {
		lines = append(lines, l.Name+" is left out: "+l.Reason)
	}
	return strings.Join(lines, "\n") + "\n"
}

// drawsLose describes the privacy loss of draws, rounded up.
func drawsLoss(s Setting) string {
	var parts []string
	if s.DrawsPure > 0 {
		parts = append(parts, "ε = "+digits.Upper(s.DrawsPure))
	}
	if s.DrawsRho > 0 {
		parts = append(parts, "ρ = "+digits.Upper(s.DrawsRho)+" (zCDP)")
	}
	return strings.Join(parts, " and ")
}

// stepSeconds returns how long a step takes, or 0 by count without a rate.
func (r *Report) stepSeconds() float64 {
	if r.Setting.StepSeconds > 0 {
		return float64(r.Setting.StepSeconds)
	}
	if !r.Setting.EventsPerSecond.Known() {
		return 0
	}
	return float64(r.Setting.Batch) / float64(r.Setting.EventsPerSecond)
}
