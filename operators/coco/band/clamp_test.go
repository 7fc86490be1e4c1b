package band

import (
	"math"
	"testing"

	"oriel/operators/setting"
	"oriel/schemas/event"
)

// TestMissesAreOfClampedNumbers compares misses with their definition: label and prediction are clamped first, the
// label to its range and the prediction to ±R·X. So a band of the largest ends holds every event, whatever its label
// and however long the weights are: PROOF.md, claim 5, needs this.
func TestMissesAreOfClampedNumbers(t *testing.T) {
	c, _ := banded(t, 0, 1)
	c.Labels = setting.Range{Low: -2, High: 1}
	rule := c.rule()
	vector := event.Vector{Values: []float64{1, 0}}
	far := []float64{0, 0.25, 0.5, 1, 1.5, 3, 1e9, 1e300}
	for _, upper := range []float64{-1, 0.25, 2, rule.most} {
		for _, lower := range []float64{-0.25, 1, 2.5, rule.most} {
			shown := []float64{upper, max(lower, -upper)}
			for _, size := range far {
				for _, weight := range far {
					for _, sign := range []float64{1, -1} {
						y, f := sign*size, weight
						got := rule.miss(shown, []float64{f, 0}, event.Event{Vector: vector, Label: y})
						y = math.Max(-2, math.Min(1, y))
						f = math.Max(-rule.reach, math.Min(rule.reach, f))
						want := -1
						switch {
						case y-f > shown[0]:
							want = 0
						case y-f < -shown[1] || shown[1] == -shown[0]:
							want = 1
						}
						if got != want {
							t.Errorf("ends %g: label %g, prediction %g: column %d, want %d", shown, sign*size, weight, got, want)
						}
						if got >= 0 && shown[0] == rule.most && shown[1] == rule.most {
							t.Errorf("label %g, prediction %g miss the widest band", sign*size, weight)
						}
						mirrored := rule.miss(shown, []float64{-weight, 0}, event.Event{Vector: vector, Label: sign * size})
						if shown[0] == rule.most && mirrored == 0 || shown[1] == rule.most && mirrored == 1 {
							t.Errorf("label %g, prediction %g: column %d, beyond the largest end", sign*size, -weight, mirrored)
						}
					}
				}
			}
		}
	}
}

// TestEndsHaveBounds checks that ends are c·sinh(z), or z/4 for sets, within their bounds: from z = Z on no event
// misses on this side, and up to −Z every event does (PROOF.md, claim 5).
func TestEndsHaveBounds(t *testing.T) {
	c, _ := banded(t, 0, 1)
	sets, _ := setsOfLabels(t, 0, 1)
	for name, rule := range map[string]Rule{"number": c.rule(), "set": sets.rule()} {
		for z := -40.0; z <= 40; z += 0.25 {
			want := rule.unit * math.Sinh(z)
			if rule.sets {
				want = z / 4
			}
			want = math.Max(rule.least, math.Min(rule.most, want))
			got := rule.end(z)
			if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) || got < rule.least || got > rule.most {
				t.Errorf("%s: the end of z = %g is %g, want %g in [%g, %g]", name, z, got, want, rule.least, rule.most)
			}
		}
	}
}
