package plan

import (
	"fmt"

	"oriel/cmd/internal/figure"
	"oriel/mechanisms/rational"
)

// userWindow is what a user's events are protected within, in words.
func (s Setting) userWindow() string {
	if among := s.terms.Unit.Figures().Among; among > 0 {
		return "any " + figure.Counted(among, "step")
	}
	return "one window"
}

// crowding says what the events of a user cost where sums forget: within a memory they add up nearly like their number,
// and not like its root (mechanisms/decay, PROOF.md, Theorem 4). Where a user has one there is nothing to say.
func (m *machine) crowding() []string {
	c := m.config
	separation, _ := c.Unit.EventSeparation()
	events := rational.Events(c.ExchangeSteps(), separation)
	one, err := m.plan.EventGuarantee(c)
	if events < 2 || err != nil {
		return nil
	}
	return []string{fmt.Sprintf("a user may have %d events among %d steps, which cost %s times the noise of one: "+
		"within a memory they add up nearly like their number. A shorter memory (ORIEL_MEMORY), a larger "+
		"ORIEL_USER_SEPARATION or a shorter ORIEL_USER_WINDOW cost less", events, c.ExchangeSteps(), figure.Upper(m.guarantee.Mu/one.Mu))}
}
