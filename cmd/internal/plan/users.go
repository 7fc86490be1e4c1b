package plan

import (
	"fmt"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/rational"
)

// userWindow describes in words the window within which a user's events are protected.
func (s Setting) userWindow() string {
	if among := s.terms.Unit.Figures().Among; among > 0 {
		return "any " + digits.Counted(among, "step")
	}
	return "one window"
}

// crowding describes the cost of several events of a user if sums decay. Within a memory the effects of the events add
// up almost linearly, not by the square root of their number (mechanisms/decay, PROOF.md, Theorem 4). If each user has
// at most one event, crowding returns nothing.
func (m *machine) crowding() []string {
	c := m.config
	separation, _ := c.Unit.EventSeparation()
	events := rational.Events(c.ExchangeSteps(), separation)
	one, err := m.calibration.EventGuarantee(c)
	if events < 2 || err != nil {
		return nil
	}
	return []string{fmt.Sprintf("a user may have %d events among %d steps, which cost %s times the noise of one: "+
		"within a memory they add up nearly like their number. A shorter memory (ORIEL_MEMORY), a larger "+
		"ORIEL_USER_SEPARATION or a shorter ORIEL_USER_WINDOW cost less", events, c.ExchangeSteps(), digits.Upper(m.guarantee.Mu/one.Mu))}
}
