package score

import "testing"

// TestDeviationsAreOfEachArm checks that each weight has the deviation of its own place, in the second arm, too.
func TestDeviationsAreOfEachArm(t *testing.T) {
	d := described()
	d.Arms = []string{"A", "B"}
	m := &Model{Weights: make([]float64, 2*dimension), Deviations: make([]float64, 2*dimension)}
	for i := range m.Weights {
		m.Weights[i], m.Deviations[i] = 1, float64(i+1)
	}
	seen := map[float64]bool{}
	for _, w := range d.Weights(m) {
		want := float64(w.Coordinate + 1)
		if w.Arm == "B" {
			want += dimension
		}
		if w.Deviation != want {
			t.Errorf("coordinate %d of arm %s has the deviation %g, want %g", w.Coordinate, w.Arm, w.Deviation, want)
		}
		seen[w.Deviation] = true
	}
	if len(seen) != 2*dimension {
		t.Errorf("%d different deviations of %d weights", len(seen), 2*dimension)
	}
}
