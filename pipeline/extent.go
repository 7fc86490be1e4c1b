package pipeline

import "oriel/pipeline/kafka"

// takenExtent counts what a segment has taken. With the bytes of decisions, the number of offsets and the clock it
// decides where a transaction closes (PROOF.md), so it must count what is public of a record and nothing else.
type takenExtent struct {
	records int
	taken   int // bytes of the records as they lie in their batches
}

// add counts a record that is taken.
func (e *takenExtent) add(at kafka.Public) {
	e.records++
	e.taken += at.Length + kafka.RecordOverhead
}
