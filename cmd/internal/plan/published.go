package plan

import (
	"fmt"
	"math"
	"math/bits"
)

// Published is what a stream publishes: values of decisions, in all its topics, over some events of no content. Their
// numbers are noise, which has as many digits as any. The zero value says that nothing is known.
type Published struct {
	Bytes, Decisions, Events int
	Thinned                  int    // bytes in the first topic, which ORIEL_EMIT_EVERY thins out
	Every                    uint64 // ORIEL_EMIT_EVERY; 0: the operator has none
}

// longEvent is from how many bytes of decisions an event on there is advice.
const longEvent = 100

// publish fills in sizes.
func (r *Report) publish(in Input) {
	s, p := &r.Setting, in.Published
	s.DecisionBytes, s.EventBytes, s.DayBytes = none, none, none
	if p.Decisions == 0 {
		return
	}
	s.DecisionBytes = Number(math.Round(float64(p.Bytes) / float64(p.Decisions)))
	s.EventBytes = Number(float64(p.Bytes) / float64(p.Events))
	if s.EventsPerSecond.known() {
		s.DayBytes = s.EventBytes * s.EventsPerSecond * day
	}
	each := float64(p.Thinned) / float64(p.Events)
	if p.Every == 0 || !(each > longEvent) {
		return
	}
	factor := uint64(1) << bits.Len64(uint64(math.Ceil(each/longEvent))-1)
	advice := fmt.Sprintf("ORIEL_EMIT_EVERY=%d makes it", p.Every*factor)
	if factsOf(s.Mechanism).Once {
		advice = fmt.Sprintf("ORIEL_BATCH=%d, longer windows with less noise each, makes it", s.Batch*factor)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("decisions of %s for each event are longer than most events; %s %s, for the same loss",
		bytesOf(uint64(each)), advice, bytesOf(uint64(each/float64(factor)))))
}

// publishedLine is what is published, for a person; empty where nothing is known.
func (s Setting) publishedLine() string {
	if !s.DecisionBytes.known() {
		return ""
	}
	event := uint64(math.Ceil(float64(s.EventBytes)))
	text := fmt.Sprintf("\ndecisions: %s each, %s for each event", bytesOf(uint64(s.DecisionBytes)), bytesOf(event))
	if s.DayBytes.known() {
		text += ", " + bytesOf(uint64(s.DayBytes)) + " a day of one stream"
	}
	return text
}
