package convex

import (
	"math"
	"strings"
	"testing"
)

func TestParseReportsEveryProblemAtOnce(t *testing.T) {
	_, err := Parse("cube", 0, math.NaN())
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"cube", "dimension 0", "radius NaN"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
	for _, radius := range []float64{0, -1, math.Inf(1), 1e-16, 1e16} {
		if _, err := Parse("box", 1, radius); err == nil {
			t.Errorf("radius %v accepted", radius)
		}
	}
	if _, err := Parse("simplex", 1, 1); err == nil {
		t.Error("a simplex of one point accepted")
	}
}
