package operators

import (
	"testing"

	"oriel/schemas/decision"
)

// TestCopiesShareNothing checks that copies of decisions stay as they are when the machine overwrites its own.
func TestCopiesShareNothing(t *testing.T) {
	d := Decision{Point: []float64{1}, Extras: []decision.ExtraValue{
		{Numbers: []float64{2}, List: []decision.Entry{{Name: "a", Count: 3}}},
	}}
	copied := AppendCopies(nil, []Decision{d})[0]
	d.Point[0], d.Extras[0].Numbers[0], d.Extras[0].List[0].Name, d.Extras[0].Text = 0, 0, "b", "c"
	x := copied.Extras[0]
	if copied.Point[0] != 1 || x.Numbers[0] != 2 || x.List[0].Name != "a" || x.Text != "" {
		t.Errorf("%+v", copied)
	}
}
