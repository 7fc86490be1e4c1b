package simtest

import (
	"maps"
	"time"

	"oriel/pipeline/kafka"
)

// Effect is the action of a Fault on a request, for example Lost. The zero value lets the request pass.
type Effect struct {
	kind  effectKind
	code  kafka.Code
	delay time.Duration
}

type effectKind int

const (
	pass effectKind = iota
	lose
	refuse
	cut
	hold
	part
)

// Lost lets the broker do the request, and ends the connection before the answer.
var Lost = Effect{kind: lose}

// Cut ends the connection before the broker receives the request.
var Cut = Effect{kind: cut}

// Partial answers a fetch with as little as a broker may return: one batch of one partition.
var Partial = Effect{kind: part}

// Refused makes the broker answer with an error code and do nothing.
func Refused(code kafka.Code) Effect { return Effect{kind: refuse, code: code} }

// Late delays a request. If the delay exceeds the client's time limit, the broker does the request after the client has
// gone.
func Late(delay time.Duration) Effect { return Effect{kind: hold, delay: delay} }

func (e Effect) String() string {
	switch e.kind {
	case lose:
		return "lost"
	case cut:
		return "cut"
	case refuse:
		return codeName(int16(e.code))
	case hold:
		return "late"
	case part:
		return "partial"
	default:
		return "ok"
	}
}

// Fault applies an effect to requests of a kind: to Count of them, after the first Skip.
type Fault struct {
	Kind   Kind
	Skip   int
	Count  int // number of requests; 0: one; negative: all later ones
	Effect Effect

	// Life ends the fault when a process of the Kind's member starts, for failures that only a restart ends.
	Life bool
}

// AnyPartition in a Kind matches requests for any partition and requests without one.
const AnyPartition = -1

// rule is an active fault.
type rule struct {
	Fault
	seen int
}

// ruled counts a request, and returns the effect of the first rule that applies to it.
func (d *Deployment) ruled(r Request) Effect {
	var found Effect
	for _, rule := range d.rules {
		if !rule.Kind.takes(r) {
			continue
		}
		rule.seen++
		if n := rule.seen - rule.Skip; found.kind == pass && n > 0 && (rule.Count < 0 || n <= max(rule.Count, 1)) {
			found = rule.Effect
		}
	}
	if found.kind != pass {
		d.effects[found.String()]++
	}
	return found
}

// Effects returns how many requests each effect was applied to, by the effect's name.
func (d *Deployment) Effects() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.effects)
}
