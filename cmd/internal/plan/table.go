package plan

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
)

// Print prints the report as readable text, with four digits. Losses and ratios are rounded up, errors to nearest.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.headline(), r.sensitivityLine())
	if r.Solved != nil {
		b.WriteString(r.Solved.lines())
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	part := func(title string, rows *grid) {
		fmt.Fprintf(&b, "\n%s\n", title)
		_ = rows.print(&b)
	}
	if r.Numbers != nil {
		r.Numbers.tables(part)
	} else {
		part("Error of a release: the published sum against the true one, loss units", r.errorRows())
	}
	if len(r.Mechanisms[0].Components) > 0 {
		part("Components of a record's contribution: how far one event moves each, and the error of its release, loss units", r.componentRows())
	}
	if len(r.Mechanisms[0].Decisions) > 0 {
		part(r.decisionTitle(), r.decisionRows())
	}
	if r.Band != nil {
		part(r.Band.title(), r.Band.rows())
	}
	if s := r.Setting; !s.users() {
		part("ε by age: the loss of everything released until an event is so old",
			r.ageRows(func(l Loss) digits.Number { return l.Epsilon }))
		part(r.groupTitle(), r.groupRows())
	} else {
		part("ε by age: a user's events of "+s.userWindow()+", everything released until its first step is so old",
			r.ageRows(func(l Loss) digits.Number { return l.Epsilon }))
		part("ε of all of a user's events of so many steps, everything released in them", r.ageRows(func(l Loss) digits.Number { return l.All }))
		part("ε of "+s.userWindow()+": of one event, of a user, of k users together", r.groupRows())
	}
	part("Memory of a stream, and cost of a step", r.costRows())
	if r.Streams != nil {
		part(r.Streams.title(), r.Streams.rows())
		b.WriteString(r.Streams.advice())
	}
	if r.Ceiling != nil {
		b.WriteString("\n" + r.Ceiling.line())
	}
	if r.Advice != nil {
		fmt.Fprintf(&b, "\nAdvised, from the noise and the radius alone: public, whatever the data\n%s", r.Advice.lines())
	}
	b.WriteString("\n" + r.notes())
	_, err := io.WriteString(out, b.String())
	return err
}

// groupTitle returns the title of the group table, which says which events form a group.
func (r *Report) groupTitle() string {
	if r.Setting.terms.Scope.ForLife() {
		return "ε of a group: k events of one person, all there ever are, exchanged together"
	}
	return "ε of a group: k events of one person in one window, exchanged together"
}

// headline returns the setting in one line.
func (r *Report) headline() string {
	s, length := r.Setting, r.Setting.terms.Brief(r.duration())
	parts := []string{s.Mechanism, length}
	parts = append(parts, digits.Counted(s.Batch, "event")+" a step", fmt.Sprintf("ε = %g", s.Epsilon))
	if s.Delta > 0 {
		parts = append(parts, fmt.Sprintf("δ = %g", s.Delta))
	}
	return strings.Join(append(parts, digits.Counted(s.Dimension, "coordinate")), ", ")
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
	text := fmt.Sprintf("adjacency %s, %s%s\none event exchanged moves the sum of a step by Δ ≤ %g: %d lattice units of 2^%d",
		s.Adjacency, unit, clip, s.Sensitivity, s.LatticeUnits, math.Ilogb(s.LatticeUnit))
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
		text += s.Costs.lines()
	}
	if s.SealedStateBytes > 0 {
		text += "\nsealed state of a stream, all included: " + digits.Bytes(uint64(s.SealedStateBytes))
	}
	return text + r.publishedLine()
}

// label returns the first column of the row, which marks the configured mechanism.
func (m *Mechanism) label() string {
	mark := "  "
	if m.Configured {
		mark = "* "
	}
	if m.Poles > 0 {
		return mark + fmt.Sprintf("%s, %d poles", m.called(), m.Poles)
	}
	if m.machine.once() {
		return mark + m.Name + ", one step"
	}
	return mark + m.Name
}

func (r *Report) errorRows() *grid {
	g := &grid{}
	g.add("", "noise", "rms of a", "at the", "rms of the", "variance over")
	g.add("", "scale", "coordinate", "worst step", "vector", "the optimum")
	for _, m := range r.Mechanisms {
		scale := digits.Number(m.NoiseScale)
		if len(m.Components) > 1 {
			scale = digits.None // each component has its own scale
		}
		g.add(m.label(), digits.Four(scale), digits.Four(m.RMSCoordinate), digits.Four(m.WorstCoordinate),
			digits.Four(m.RMSVector), digits.Upper(m.OverOptimum))
	}
	if r.Optimum.RMSCoordinate.Known() {
		g.add("  optimum", "", digits.Four(r.Optimum.RMSCoordinate), "", digits.Four(r.Optimum.RMSVector), "1")
	}
	return g
}

func (r *Report) ageRows(loss func(Loss) digits.Number) *grid {
	g := &grid{}
	head, steps, times := []string{"", "µ"}, []string{"", ""}, []string{"", ""}
	for _, age := range r.Ages {
		head = append(head, age.name)
		if r.Setting.span() == 0 {
			continue
		}
		steps = append(steps, digits.Count(age.Steps))
		if age.Seconds.Known() {
			times = append(times, digits.Duration(float64(age.Seconds)))
		}
	}
	for _, row := range [][]string{head, steps, times} {
		if len(row) > 2 {
			g.add(row...)
		}
	}
	for _, m := range r.Mechanisms {
		row := []string{m.label(), digits.Upper(m.Mu)}
		for _, l := range m.Losses {
			row = append(row, digits.Upper(loss(l)))
		}
		g.add(row...)
	}
	return g
}

func (r *Report) groupRows() *grid {
	g := &grid{}
	head := []string{"", "k = 1"}
	user := r.Setting.users()
	if user {
		head = []string{"", "one event", "k = 1"}
	}
	for _, k := range groups {
		head = append(head, strconv.FormatUint(k, 10))
	}
	g.add(head...)
	for _, m := range r.Mechanisms {
		row := []string{m.label(), digits.Upper(m.Epsilon)}
		if user {
			row = []string{m.label(), digits.Upper(m.EventEpsilon), digits.Upper(m.Epsilon)}
		}
		for _, group := range m.Groups {
			row = append(row, digits.Upper(group.Epsilon))
		}
		g.add(row...)
	}
	return g
}

func (r *Report) costRows() *grid {
	g := &grid{}
	measured := r.measured()
	first := []string{"", "state", "memory", "noise", "at most", "SHA-256", "AES", "128-bit"}
	second := []string{"", "", "", "vectors", "", "blocks", "blocks", "products"}
	if measured {
		first, second = append(first, "time"), append(second, "here")
	}
	g.add(first...)
	g.add(second...)
	for _, m := range r.Mechanisms {
		row := []string{
			m.label(), digits.Bytes(uint64(m.StateBytes)), digits.Bytes(m.MemoryBytes),
			digits.Four(m.Cost.Vectors), strconv.FormatUint(m.Cost.WorstVectors, 10), digits.Four(m.Cost.HashBlocks),
			digits.Four(m.Cost.CipherBlocks), strconv.FormatUint(m.Cost.Products, 10),
		}
		if measured {
			row = append(row, stepTime(m.Cost.Nanoseconds))
		}
		g.add(row...)
	}
	return g
}

func (r *Report) measured() bool {
	return slices.ContainsFunc(r.Mechanisms, func(m Mechanism) bool { return m.Cost.Nanoseconds.Known() })
}

func stepTime(nanoseconds digits.Number) string {
	if !nanoseconds.Known() {
		return "–"
	}
	return digits.Duration(float64(nanoseconds) / 1e9)
}

// notes returns explanations for which the tables have no room.
func (r *Report) notes() string {
	lines := []string{"* configured. Losses and ratios are rounded up."}
	if r.Numbers != nil {
		lines = append(lines, r.Numbers.notes()...)
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
	case factsOf(s.Mechanism).Structure == mechanisms.Selection:
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
