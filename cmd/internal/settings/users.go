package settings

import (
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/state/users"
)

// The two forms of ORIEL_USER_ID.
const (
	byKey    = "key"
	byHeader = "header:"
)

// checkUsers requires both settings of user-level privacy or neither.
func (s Settings) checkUsers(p *operators.Problems) {
	if s.UserID == "" {
		p.Want("USER_SEPARATION", s.UserSeparation == 0, "set, but ORIEL_USER_ID does not say who a user is")
		p.Want("USER_WINDOW", s.UserWindow == 0, "set, but ORIEL_USER_ID does not say who a user is")
		return
	}
	p.Want("MECHANISM", !s.perStep() && s.facts().Structure != mechanisms.Selection, "%s: has no user level, and ORIEL_USER_ID is set: a user's events over a whole life have "+
		"no bound", s.Mechanism)
	switch {
	case s.decays():
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

// checkKeyed refuses user-level privacy for operators that add feedback at a later step than the feedback's event. For
// such an operator, one step could add two pieces of feedback of one user that arrived far apart.
func (s Settings) checkKeyed(p *operators.Problems) {
	p.Want("USER_ID", s.UserID == "" || !s.events.Keyed, "set, but ORIEL_OPERATOR=%s adds answers later than they come: "+
		"two answers of a user may be added closer together than they came", s.Operator)
}

// userWindow returns the window of user-level privacy if the mechanism's sums decay, and 0 otherwise.
func (s Settings) userWindow() uint64 {
	if s.UserID == "" || !s.decays() {
		return 0
	}
	return s.UserWindow
}

// unit returns the unit of privacy: what differs between neighbouring streams.
func (s Settings) unit() protection.Unit {
	adjacency, _ := dp.ParseAdjacency(s.Adjacency) // ParseAdjacency cannot fail, because check has validated the text
	if s.UserID == "" {
		return protection.Event{Exchange: adjacency}
	}
	return protection.User{Exchange: adjacency, Separation: s.UserSeparation, Steps: s.userWindow()}
}

// Terms returns who is protected, and for how long.
func (s Settings) Terms() protection.Terms { return protection.Terms{Scope: s.scope(), Unit: s.unit()} }

// users returns the configuration of user-level privacy for the pipeline. It is nil for event-level privacy.
func (s Settings) users() *streams.Users {
	if s.UserID == "" {
		return nil
	}
	header, _ := strings.CutPrefix(s.UserID, byHeader)
	if s.UserID == byKey {
		header = ""
	}
	return &streams.Users{Separation: s.UserSeparation, Batch: s.Batch, Header: header}
}
