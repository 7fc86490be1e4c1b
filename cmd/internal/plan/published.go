package plan

import (
	"fmt"
	"math"
	"math/bits"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
)

// Published is the published volume of a stream: the size of the decisions in all its topics, measured over some events
// without content. Most numbers of such decisions are noise, which always has many digits, but ends of intervals may
// still be short. The zero value means that the volume is unknown.
type Published struct {
	Bytes, Decisions, Events float64
	// bytes and number of decisions in the first topic, which ORIEL_EMIT_EVERY makes rarer
	Thinned, Decided float64
	Every            uint64 // ORIEL_EMIT_EVERY; 0: the operator does not have this setting
	Fixed            bool   // each number has 8 bytes, so all decisions have the same length
	// number of events before the first decision, if it is too large to simulate; otherwise 0
	Late uint64
}

// longEvent is the number of decision bytes per event above which the report gives advice.
const longEvent = 100

// Advised returns the number of steps from decision to decision that keeps decisions shorter than most events, or Every
// if they are. It is Every times a power of two.
func (p Published) Advised() uint64 {
	each := p.Thinned / p.Events
	if p.Every == 0 || !(each > longEvent) {
		return p.Every
	}
	return p.Every << bits.Len64(uint64(math.Ceil(each/longEvent))-1)
}

// publish fills in the sizes of what is published.
func (r *Report) publish(in Input) {
	s, p := &r.Setting, in.Published
	s.DecisionBytes, s.EventBytes, s.DayBytes = digits.None, digits.None, digits.None
	if r.late, r.fixed = p.Late, p.Fixed; p.Decisions == 0 {
		return
	}
	s.DecisionBytes = digits.Number(math.Round(p.Bytes / p.Decisions))
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
	if factsOf(s.Mechanism).Structure == mechanisms.PerStep {
		advice = fmt.Sprintf("ORIEL_BATCH=%d, longer windows with less noise each, makes it", s.Batch*factor)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("decisions of %s for each event are longer than most events; %s %s, for the same loss",
		digits.Bytes(uint64(each)), advice, digits.Bytes(uint64(each/float64(factor)))))
}

// publishedLine describes the published volume as readable text. It returns "" if the volume is unknown.
func (r *Report) publishedLine() string {
	s := &r.Setting
	switch {
	case r.late > 0:
		return fmt.Sprintf("\ndecisions: not measured, because the first comes after %s events", digits.Count(r.late))
	case !s.DecisionBytes.Known():
		return ""
	}
	event := uint64(math.Ceil(float64(s.EventBytes)))
	text := fmt.Sprintf("\ndecisions: %s each, %s for each event", digits.Bytes(uint64(s.DecisionBytes)), digits.Bytes(event))
	if s.DayBytes.Known() {
		text += ", " + digits.Bytes(uint64(s.DayBytes)) + " a day of one stream"
	}
	if r.fixed {
		return text
	}
	return text + "\n(at first; up to 1.6 times that when all numbers have all their digits)"
}
