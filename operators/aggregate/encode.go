package aggregate

import "oriel/mechanisms"

// The fields of a state are the sums of the views that are not the stream's own, and the increments since the last
// decision.
const stateVersion = 1

// readingField is a reading in a state.
type readingField struct {
	*mechanisms.Reading
	m *Machine
}

// Restore refuses a sum before its first step.
func (f readingField) Restore(state []byte) error {
	t := f.m.Stream.Step()
	empty := t == 0 || f.Reading == f.m.increments && t%f.m.Every == 0
	return f.Reading.Restore(state, empty)
}
