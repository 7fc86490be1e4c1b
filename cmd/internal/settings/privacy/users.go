package privacy

import (
	"strings"

	"oriel/cmd/internal/settings/values"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators/setting"
	"oriel/pipeline/streams"
	"oriel/state/users"
)

// checkUsers requires both settings of user-level privacy or neither.
func (s Privacy) checkUsers(p *setting.Problems) {
	if s.UserID == "" {
		p.Want("USER_SEPARATION", s.UserSeparation == 0, "set, but ORIEL_USER_ID does not say who a user is")
		p.Want("USER_WINDOW", s.UserWindow == 0, "set, but ORIEL_USER_ID does not say who a user is")
		p.Want("USER_PERIOD", s.UserPeriod == 0, "set, but ORIEL_USER_ID does not say who a user is")
		p.Want("USER_EVENTS", s.UserEvents == 1, "set, but ORIEL_USER_ID does not say who a user is")
		return
	}
	if s.ByClock() {
		s.checkPeriod(p)
		return
	}
	p.Want("MECHANISM", !s.PerStep() && s.Facts().ReleasesSums(), "%s: has no user level, and ORIEL_USER_ID is set: a user's events over a whole life have "+
		"no bound", s.Mechanism)
	switch {
	case s.Decays():
		p.Want("USER_WINDOW", s.UserWindow > 0 && s.UserWindow <= protection.MaxAmong,
			"%d: not within 1 to %d; with a memory nothing "+
				"bounds the loss of a user who comes for ever, so it must say among how many steps a user's events are protected together",
			s.UserWindow, uint64(protection.MaxAmong))
	default:
		p.Want("USER_WINDOW", s.UserWindow == 0, "set, but without ORIEL_MEMORY the window of users is ORIEL_WINDOW")
	}
	if s.UserSeparation == 0 {
		p.Want("USER_SEPARATION", false, "not set; ORIEL_USER_ID needs the least steps between two events of one user")
		return
	}
	err := users.Validate(s.UserSeparation, s.Batch)
	p.Want("USER_SEPARATION", err == nil, "%w", err)
}

// AmongSteps returns the window of user-level privacy if the mechanism's sums decay, and 0 otherwise.
func (s Privacy) AmongSteps() uint64 {
	if s.UserID == "" || !s.Decays() {
		return 0
	}
	return s.UserWindow
}

// unit returns the unit of privacy: what differs between neighbouring streams.
func (s Privacy) unit() protection.Unit {
	adjacency, _ := dp.ParseAdjacency(s.Adjacency) // ParseAdjacency cannot fail, because check has validated the text
	switch {
	case s.UserID == "":
		return protection.Event{Exchange: adjacency}
	case s.ByClock():
		return s.userPeriod()
	}
	return protection.User{Exchange: adjacency, Separation: s.UserSeparation, Steps: s.AmongSteps()}
}

// Users returns the configuration of user-level privacy for the pipeline. It is nil for event-level privacy.
func (s Privacy) Users() *streams.Users {
	if s.UserID == "" {
		return nil
	}
	header, _ := strings.CutPrefix(s.UserID, values.ByHeader)
	if s.UserID == values.ByKey {
		header = ""
	}
	if s.ByClock() {
		users := &streams.Users{Period: s.period(), Values: s.UserValues, Header: header}
		if s.UserValues == 0 {
			users.Events = s.UserEvents
		}
		return users
	}
	return &streams.Users{Separation: s.UserSeparation, Batch: s.Batch, Header: header}
}
