package aggregate

import "oriel/mechanisms"

// A state holds the sums of the views for which the stream keeps no sums itself, and the increments since the last
// decision.
const stateVersion = 1

// incrementsField is the state's field of increments.
type incrementsField struct {
	*mechanisms.Reading
	m *Machine
}

// Restore refuses a state that holds increments right after a decision, because the decision has published them.
func (f incrementsField) Restore(state []byte) error {
	return f.Reading.Restore(state, f.m.Stream.Step()%f.m.Every == 0)
}
