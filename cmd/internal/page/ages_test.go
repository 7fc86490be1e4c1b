package page

import (
	"reflect"
	"testing"

	"oriel/mechanisms/protection"
)

// TestAgesFollowTheRate checks that agesOf gives the same result with the ages of another rate in before, and without
// them.
func TestAgesFollowTheRate(t *testing.T) {
	g := protection.Guarantee{
		Terms: protection.Terms{Scope: protection.Window{Steps: 3600}, Unit: protection.Event{}}, Epsilon: 1, Batch: 1,
	}
	var before []age
	for _, rate := range []float64{1, 1, 0.25, 3, 1} {
		before = agesOf(g, true, rate, before)
		if alone := agesOf(g, true, rate, nil); !reflect.DeepEqual(before, alone) {
			t.Errorf("rate %g: %+v, alone %+v", rate, before, alone)
		}
	}
	if len(before) < 7 {
		t.Errorf("%d ages", len(before))
	}
}
