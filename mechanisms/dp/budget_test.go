package dp

import (
	"math"
	"testing"
)

func TestAdjacencyNamesRoundTrip(t *testing.T) {
	for _, a := range []Adjacency{Replace, ZeroOut, AddRemove} {
		got, err := ParseAdjacency(a.String())
		if got != a || err != nil || a.Validate() != nil {
			t.Errorf("ParseAdjacency(%q) = %v, %v", a.String(), got, err)
		}
	}
	for _, name := range []string{"", "Replace", "zero_out", "adjacency(0)", "adjacency(4)"} {
		if _, err := ParseAdjacency(name); err == nil {
			t.Errorf("ParseAdjacency(%q) succeeds", name)
		}
	}
	for _, none := range []Adjacency{0, 4} {
		if none.Validate() == nil {
			t.Errorf("%v is valid", none)
		}
	}
}

func TestBudgetValidate(t *testing.T) {
	f := func(epsilon, delta float64, want bool) {
		t.Helper()
		if got := (Budget{Epsilon: epsilon, Delta: delta}).Validate() == nil; got != want {
			t.Errorf("budget (%g, %g) valid: %v, want %v", epsilon, delta, got, want)
		}
	}
	f(1, 1e-6, true)
	f(1, 0, true)
	f(0, 0.1, false)
	f(-1, 0.1, false)
	f(math.NaN(), 0.1, false)
	f(math.Inf(1), 0.1, false)
	f(1, 1, false)
	f(1, -1e-9, false)
	f(1, math.NaN(), false)
}
