package actions

import (
	"math"
	"strconv"

	"oriel/operators"
)

// History is a slow Table for reference models of machines. It reads the actions from published decisions, and keeps
// all answers.
type History struct {
	config  Config
	records uint64
	round   map[uint64]uint64 // round of each published action
	used    map[uint64]bool
	answers map[uint64][]Feedback // answers of each round, in order of arrival
}

// NewHistory returns a history without records.
func NewHistory(c Config) *History {
	return &History{
		config: c, round: map[uint64]uint64{}, used: map[uint64]bool{}, answers: map[uint64][]Feedback{},
	}
}

// Observe records the actions in published decisions.
func (h *History) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		h.round[d.Index] = d.Step + 1
	}
}

// Next takes the next record and returns the feedback that this record adds to the sum. Its value is NaN if the record
// adds nothing.
func (h *History) Next(key []byte, value float64) Feedback {
	step, place := h.records/uint64(h.config.Records)+1, int(h.records%uint64(h.config.Records))
	h.records++
	play, err := strconv.ParseUint(string(key), 10, 64)
	round, published := h.round[play]
	open := err == nil && published && strconv.FormatUint(play, 10) == string(key) && !h.used[play] &&
		step-round < max(1, h.config.Delay) && len(h.answers[round]) < h.config.Records
	if open {
		h.used[play] = true
		h.answers[round] = append(h.answers[round], Feedback{play, value})
	}
	switch settled := h.answers[step-min(step, h.config.Delay)]; {
	case h.config.Delay == 0 && open:
		return settled[len(settled)-1]
	case h.config.Delay > 0 && step > h.config.Delay && place < len(settled):
		return settled[place]
	}
	return Feedback{Value: math.NaN()}
}

// Records returns the event itself as its only record, with lag 0: an answer is one record, which is added when its
// round is settled.
func (h *History) Records(event operators.Record) (records []operators.Record, lag uint64) {
	return []operators.Record{event}, h.config.Delay
}

// Place returns the step of the next record, and its place there.
func (h *History) Place() (step, place uint64) {
	return h.records/uint64(h.config.Records) + 1, h.records % uint64(h.config.Records)
}

// Open returns the first unused action of the newest round that has one.
func (h *History) Open() uint64 {
	step, _ := h.Place()
	play := h.config.First(step)
	for h.used[play] {
		play++
	}
	return play
}
