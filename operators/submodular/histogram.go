package submodular

import (
	"math"

	"oriel/mechanisms"
	"oriel/schemas/event"
)

// histogramRule counts the events of each public type, and takes the greedy set for the released counts.
type histogramRule struct {
	operator
	table  []float64
	greedy *greedy
	set    []int
	value  float64   // mean value of the set to an event, computed from the released counts
	counts []float64 // scratch: released counts by type
}

func newHistogram(c operator, table []float64, set []int) *histogramRule {
	return &histogramRule{
		operator: c, table: table, set: set, greedy: newGreedy(c.function, len(c.types), c.elements, c.pick),
		counts: make([]float64, len(c.types)),
	}
}

// contribution writes the type of the event.
func (h *histogramRule) contribution(dst []float64, e event.Event) bool {
	j := h.typeOf(e)
	dst[0] = float64(j)
	return j >= 0
}

func (h *histogramRule) decide(stream *mechanisms.Stream) {
	total := 0.0
	for j, x := range stream.Sum(0) {
		h.counts[j] = max(0, min(x, math.MaxFloat64/unit))
		total += h.counts[j]
	}
	set, value := h.greedy.weighted(h.table, h.counts)
	copy(h.set, set)
	h.value = 0
	if total > 0 {
		h.value = min(1, value/total)
	}
}

func (h *histogramRule) write(dst []float64) { writeSet(dst, h.set) }
