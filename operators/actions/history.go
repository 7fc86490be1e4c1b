package actions

import (
	"math"
	"strconv"

	"oriel/operators"
)

// History is a slow Table for reference models of machines: it knows the plays that were published, as whoever reads
// them does, and keeps all answers there were.
type History struct {
	config  Config
	records uint64
	round   map[uint64]uint64 // of each published play, its round
	used    map[uint64]bool
	answers map[uint64][]Feedback // of each round, in their order
}

// NewHistory returns that of no record.
func NewHistory(c Config) *History {
	return &History{
		config: c, round: map[uint64]uint64{}, used: map[uint64]bool{}, answers: map[uint64][]Feedback{},
	}
}

// Observe tells the plays that were published.
func (h *History) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		h.round[d.Index] = d.Step + 1
	}
}

// Next takes the next record, and returns what it adds, NaN for nothing.
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

// Records returns the event: an answer is one record, which is added when its round is settled.
func (h *History) Records(event operators.Record) (records []operators.Record, lag uint64) {
	return []operators.Record{event}, h.config.Delay
}

// Place is that of the next record: its step and its place there.
func (h *History) Place() (step, place uint64) {
	return h.records/uint64(h.config.Records) + 1, h.records % uint64(h.config.Records)
}

// Open is the first play of the newest round that is not used up.
func (h *History) Open() uint64 {
	step, _ := h.Place()
	play := h.config.First(step)
	for h.used[play] {
		play++
	}
	return play
}
