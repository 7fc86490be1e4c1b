package aggregate

import "oriel/mechanisms"

// The fields of a state are the sums of the views that are not the stream's own, and the increments since the last
// decision.
const stateVersion = 1

// incrementsField is the increments in a state.
type incrementsField struct {
	*mechanisms.Reading
	m *Machine
}

// Restore refuses increments right after a decision, which has published them.
func (f incrementsField) Restore(state []byte) error {
	return f.Reading.Restore(state, f.m.Stream.Step()%f.m.Every == 0)
}
