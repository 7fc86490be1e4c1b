package privacy

import (
	"time"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators/setting"
)

// ByClock reports whether steps end by the clock.
func (s Privacy) ByClock() bool { return s.Step != 0 }

// Clock returns the rule of steps by the clock; it is zero for steps by count.
func (s Privacy) Clock() steps.Clock {
	if !s.ByClock() {
		return steps.Clock{}
	}
	return clock(s.Step, s.StepOffset%s.Step)
}

// period returns the rule of users' periods. They begin with a step, because they are whole steps with the same offset.
func (s Privacy) period() steps.Clock { return clock(s.UserPeriod, s.StepOffset) }

// PeriodOffset returns the offset of the boundaries of users' periods from multiples of their length, seconds.
func (s Privacy) PeriodOffset() int64 { return int64(s.StepOffset / time.Second) }

func clock(length, offset time.Duration) steps.Clock {
	return steps.Clock{Length: int64(length / time.Second), Offset: int64(offset / time.Second)}
}

// Timed returns a value of the canonical configuration that it has only with steps by the clock.
func (s Privacy) Timed(value any) any {
	if !s.ByClock() {
		return nil
	}
	return value
}

// ReadStep gives the batch and the adjacency their values for steps by the clock. It refuses settings that belong to
// the other kind of steps, if needed says that the settings of privacy are used.
func (s *Privacy) ReadStep(p *setting.Problems, given map[string]string, needed bool) {
	refuse := func(reason string, names ...string) {
		for _, name := range names {
			_, set := given[setting.Prefix+name]
			p.Want(name, !set || !needed, "set, %s", reason)
		}
	}
	addRemove := dp.AddRemove.String()
	if !s.ByClock() {
		refuse("but ORIEL_STEP does not say that steps end by the clock",
			"STEP_OFFSET", "STEP_GRACE", "STEP_DELAY", "USER_PERIOD", "USER_EVENTS")
		p.Want("ADJACENCY", !needed || s.Adjacency != addRemove, "add-remove: with steps of ORIEL_BATCH records an absent event would move "+
			"all later ones into other steps; set ORIEL_STEP in place of ORIEL_BATCH, or say replace or zero-out")
		return
	}
	refuse("and so is ORIEL_STEP: a step ends by the clock or after a number of records; remove one of the two", "BATCH")
	refuse("but with ORIEL_STEP no number of steps lies between a user's events: set ORIEL_USER_PERIOD and ORIEL_USER_EVENTS", "USER_SEPARATION")
	if _, chosen := given[setting.Prefix+"ADJACENCY"]; chosen && s.Adjacency != addRemove {
		refuse("but with ORIEL_STEP an event is present or absent, because no step has a number of events; leave it out, or say add-remove", "ADJACENCY")
	}
	s.Batch, s.Adjacency = 0, addRemove
}

// checkStep checks the settings of steps by the clock together. It returns false if the step or the mechanism is wrong,
// because other rules would then blame other settings.
func (s Privacy) checkStep(p *setting.Problems) bool {
	if !p.Sound("STEP") {
		return false
	}
	p.Want("MECHANISM", s.PerStep(), "%s: sums that remember, models and windows stay by count; take once-laplace or once-gaussian, or ORIEL_BATCH in place of "+
		"ORIEL_STEP", s.Mechanism)
	p.Want("STEP_OFFSET", s.StepOffset%time.Second == 0 && s.StepOffset < max(s.Step, s.UserPeriod),
		"%v: not whole seconds below the length of a step or of a user's period", s.StepOffset)
	p.Want("STEP_DELAY", s.StepDelay-s.StepGrace >= time.Second, "%v: less than 1s above ORIEL_STEP_GRACE=%v: a decision would be due before "+
		"the order of its step's records is known", s.StepDelay, s.StepGrace)
	return s.PerStep()
}

// checkPeriod checks the settings of user-level privacy with steps by the clock. The caller has checked that there is a
// user id.
func (s Privacy) checkPeriod(p *setting.Problems) {
	p.Want("USER_PERIOD", s.UserPeriod > 0, "not set; with ORIEL_STEP, ORIEL_USER_ID needs the length of a user's period, such as 1d")
	p.Want("USER_PERIOD", s.UserPeriod%s.Step == 0, "%v: not whole steps of ORIEL_STEP=%v", s.UserPeriod, s.Step)
}

// CountValues makes users count once for each of their first values in a period, and no longer by their first records.
// It refuses a number of records. Without the settings of users' periods it changes nothing; the operator refuses their
// absence.
func (s *Privacy) CountValues(p *setting.Problems, given map[string]string, values uint64) {
	_, set := given[setting.Prefix+"USER_EVENTS"]
	p.Want("USER_EVENTS", !set, "set, but each user counts once in each of the user's first cells, or for each of the first names, however many records there are; leave it out")
	if s.ByClock() && s.UserID != "" {
		s.UserValues = values
	}
}

// userPeriod returns the unit of a user's period.
func (s Privacy) userPeriod() protection.UserPeriod {
	unit := protection.UserPeriod{PeriodSteps: uint64(s.UserPeriod / s.Step), Values: s.UserValues}
	if s.UserValues == 0 {
		unit.Events = s.UserEvents
	}
	return unit
}
