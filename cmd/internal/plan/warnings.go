package plan

import (
	"fmt"
	"math"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/rational"
)

// day is a day in seconds. A window shorter than a day does not protect a person who has events every day.
const day = 86400

// warn adds warnings about settings that a careful user would change.
func (r *Report) warn(in Input) {
	r.Warnings = []string{}
	s := r.Setting
	if text := dp.DeltaWarning(r.Mechanisms[0].Delta, opened.Times(s.terms.Scope.BackgroundSteps(), s.Batch)); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
	if s.WindowSeconds.Known() && float64(s.WindowSeconds) < day && !s.terms.Scope.ForLife() {
		steps := math.Ceil(day * in.Rate / float64(s.Batch))
		r.Warnings = append(r.Warnings, fmt.Sprintf("the window is %s, less than a day of traffic (%s steps): a large window is cheap",
			digits.Duration(float64(s.WindowSeconds)), digits.Count(uint64(min(steps, 1e18)))))
	}
	if s.users() && r.Mechanisms[0].opened.BothSigns() {
		r.Warnings = append(r.Warnings, "four poles at age weight 0 give this window a filter whose account of a user is "+
			"5 to 13 % above the user's loss: leave ORIEL_POLES at 0, or take ORIEL_AGE_WEIGHT=0.3")
	}
	if s.users() && decays(s.terms.Scope) {
		r.Warnings = append(r.Warnings, crowding(r.Mechanisms[0].opened)...)
	}
	if r.Numbers != nil {
		r.Warnings = append(r.Warnings, r.Numbers.Warnings()...)
	}
	if !r.Mechanisms[0].Epsilon.Finite() {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s proves no finite ε at δ = %g with these settings", s.Mechanism,
			s.Delta))
	}
}

// crowding describes the cost of several events of a user if sums decay. Within a memory the effects of the events add
// up almost linearly, not by the square root of their number (mechanisms/decay, PROOF.md, Theorem 4). If each user has
// at most one event, crowding returns nothing.
func crowding(m *opened.Mechanism) []string {
	c := m.Config
	separation, _ := c.Unit.EventSeparation()
	events := rational.Events(c.ExchangeSteps(), separation)
	one, err := m.Calibration.EventGuarantee(c)
	if events < 2 || err != nil {
		return nil
	}
	return []string{fmt.Sprintf("a user may have %d events among %d steps, which cost %s times the noise of one: "+
		"within a memory they add up nearly like their number. A shorter memory (ORIEL_MEMORY), a larger "+
		"ORIEL_USER_SEPARATION or a shorter ORIEL_USER_WINDOW cost less", events, c.ExchangeSteps(), digits.Upper(m.Guarantee.Mu/one.Mu))}
}

// publish fills in the sizes of what is published.
func (r *Report) publish() {
	s, p := &r.Setting, r.stream.Published
	s.DecisionBytes, s.EventBytes, s.DayBytes = digits.None, digits.None, digits.None
	if p.Decisions == 0 {
		return
	}
	s.DecisionBytes = digits.Number(math.Round(p.Bytes / p.Decisions))
	if s.StepSeconds > 0 {
		s.DayBytes = s.DecisionBytes * day / digits.Number(s.StepSeconds)
		return
	}
	s.EventBytes = digits.Number(p.Bytes / p.Events)
	if s.EventsPerSecond.Known() {
		s.DayBytes = s.EventBytes * s.EventsPerSecond * day
	}
	each, every := p.Thinned/p.Events, p.Advised()
	if every == p.Every {
		return
	}
	factor := every / p.Every
	advice := fmt.Sprintf("ORIEL_EMIT_EVERY=%d makes it", every)
	if r.Mechanisms[0].opened.PerStep() {
		advice = fmt.Sprintf("ORIEL_BATCH=%d, longer windows with less noise each, makes it", s.Batch*factor)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("decisions of %s for each event are longer than most events; %s %s, for the same loss",
		digits.Bytes(uint64(each)), advice, digits.Bytes(uint64(each/float64(factor)))))
}
