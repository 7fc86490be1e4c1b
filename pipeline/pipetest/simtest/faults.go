package simtest

import (
	"maps"
	"time"

	"oriel/pipeline/kafka"
)

// Effect is what becomes of a request. The zero value lets it pass.
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

// Lost: the broker does it, and the connection ends before the answer.
var Lost = Effect{kind: lose}

// Cut: the connection ends before the broker hears of it.
var Cut = Effect{kind: cut}

// Partial: a fetch is answered with as little as a broker may answer, one batch of one partition.
var Partial = Effect{kind: part}

// Refused: the broker answers with a code and does nothing.
func Refused(code kafka.Code) Effect { return Effect{kind: refuse, code: code} }

// Late: the broker hears of it after a delay. Beyond the client's time limit it is done unheard.
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

// Fault gives requests of a kind an effect: Count of them, after the first Skip.
type Fault struct {
	Kind   Kind
	Skip   int
	Count  int // 0: one; negative: all that follow
	Effect Effect

	// Life ends the fault when a process of the Kind's member starts: what only a restart mends.
	Life bool
}

// AnyPartition in a Kind takes requests of every partition and of none.
const AnyPartition = -1

// rule is a fault at work.
type rule struct {
	Fault
	seen int
}

// ruled counts a request, and returns the effect of the first rule that has one for it.
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

// Effects counts what has become of requests that faults have met, by the names of effects.
func (d *Deployment) Effects() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.effects)
}
