package mechanisms_test

import (
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestFactsAreThoseOfTheMechanism compares the facts of each name with a table written by hand.
func TestFactsAreThoseOfTheMechanism(t *testing.T) {
	tree := func(law mechanisms.Law) mechanisms.Facts {
		return mechanisms.Facts{Law: law, Structure: mechanisms.Tree, Users: true, MaxWindow: 1 << 62}
	}
	want := map[string]mechanisms.Facts{
		"tree-gaussian": tree(mechanisms.Gaussian),
		"tree-gamma":    tree(mechanisms.Gamma),
		"tree-laplace":  tree(mechanisms.Laplace),
		"blt":           {Law: mechanisms.Gaussian, Structure: mechanisms.Filter, Users: true, MaxWindow: 1 << 22},
		"once-gaussian": {Law: mechanisms.Gaussian, Structure: mechanisms.PerStep},
		"once-gamma":    {Law: mechanisms.Gamma, Structure: mechanisms.PerStep},
		"once-laplace":  {Law: mechanisms.Laplace, Structure: mechanisms.PerStep},
	}
	for _, name := range mechanisms.Names() {
		facts, known := mechanisms.FactsOf(name)
		if !known || facts != want[name] {
			t.Errorf("%s: %+v, want %+v", name, facts, want[name])
		}
		c := config(name, 2)
		stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{}))
		perStep := facts.Structure == mechanisms.PerStep
		if g := stream.Guarantee(); (g.Mu == 0) != facts.Pure() || stream.PerStep() != perStep ||
			(g.Scope == protection.PerStep{}) != perStep {
			t.Errorf("%s: guarantee %+v against facts %+v", name, g, facts)
		}
		if calibration := mechtest.Plan(t, c); (calibration.Filter.Count > 0) != (facts.Structure == mechanisms.Filter) {
			t.Errorf("%s: a filter of %d poles", name, calibration.Filter.Count)
		}
	}
	if len(want) != len(mechanisms.Names()) || slices.Contains(mechanisms.Names(), "") {
		t.Errorf("names %v", mechanisms.Names())
	}
	if facts, known := mechanisms.FactsOf("tree"); known || facts != (mechanisms.Facts{}) {
		t.Errorf("a name of no mechanism has facts %+v", facts)
	}
}
