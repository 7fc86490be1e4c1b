package privacy

import (
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators/setting"
)

// Privacy has the settings that say which noise is drawn, who is protected, and for how long.
type Privacy struct {
	Mechanism, Window, Adjacency   string
	Rounds, Batch, Horizon, Memory uint64
	AgeWeight, Epsilon, Delta      float64
	Poles                          int
	UserID                         string
	UserSeparation, UserWindow     uint64
	UserEvents                     uint64
	UserValues                     uint64 // set by the operator's settings; 0: events of users count

	Step, StepOffset, StepGrace, StepDelay, UserPeriod time.Duration // Step is 0 for steps by count
}

// Facts returns the facts of the configured mechanism. They are zero if no mechanism has that name.
func (s Privacy) Facts() mechanisms.Facts {
	facts, _ := mechanisms.FactsOf(s.Mechanism)
	return facts
}

// Terms returns who is protected, and for how long.
func (s Privacy) Terms() protection.Terms { return protection.Terms{Scope: s.scope(), Unit: s.unit()} }

// Check refuses settings that do not go together.
func (s Privacy) Check(p *setting.Problems) {
	if s.ByClock() && !s.checkStep(p) {
		return
	}
	s.checkUsers(p)
	s.checkWindow(p)
	s.checkRounds(p)
	p.Want("DELTA", !s.Facts().Normal() || s.Delta > 0,
		"%g: not between 0 and 1; %s needs it", s.Delta, s.Mechanism)
}

// ReadFilter reads and checks the settings that shape the mechanism's filter. It refuses them for mechanisms without a
// filter.
func (s *Privacy) ReadFilter(p *setting.Problems, given map[string]string, needed bool) {
	for _, name := range []string{"AGE_WEIGHT", "POLES"} {
		_, set := given[setting.Prefix+name]
		takes := s.Facts().Filters() || !p.Sound("MECHANISM")
		p.Want(name, !set || takes || !needed, "set, but only ORIEL_MECHANISM=blt has a filter that it shapes")
	}
	if s.Window == horizon || s.Decays() {
		_, set := given[setting.Prefix+"AGE_WEIGHT"]
		p.Want("AGE_WEIGHT", !set || !s.Facts().Filters() || s.AgeWeight == 0,
			"%g: with ORIEL_WINDOW=%s no event outlives the window; leave it out", s.AgeWeight, s.Window)
		s.AgeWeight = 0
	}
	p.Want("POLES", s.Poles == 0 || !s.Decays(), "%d: with ORIEL_WINDOW=lifetime the memory decides; leave it out", s.Poles)
}
