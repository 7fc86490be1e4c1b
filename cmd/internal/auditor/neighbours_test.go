package auditor

import (
	"testing"
)

// No machine as it is configured is refuted, and of each many pairs are played.
func TestNeighbours(t *testing.T) {
	for name, lines := range recordedMachines() {
		t.Run(name, func(t *testing.T) {
			a := subjectOf(t, append([]string{"ORIEL_EPSILON=1"}, lines...)...)
			if c := checkedNeighbours(t, a); !c.Holds || c.Count < leastExchanges {
				t.Errorf("neighbours: %s, %d pairs", c.Found, c.Count)
			}
		})
	}
}
