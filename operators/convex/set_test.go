package convex

import (
	"math"
	"strings"
	"testing"
)

func TestParseReportsEveryProblemAtOnce(t *testing.T) {
	_, err := Parse(Spec{
		Name: "cube", Radius: math.NaN(), Pick: 2, Edges: []string{"a>b"}, Blocks: []string{"2:1"}, Places: []string{"1"},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"cube", "dimension 0", "radius NaN", "pick 2", "edges", "blocks", "places"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
	for _, radius := range []float64{0, -1, math.Inf(1), 1e-16, 1e16} {
		if _, err := Parse(Spec{Name: "box", Dimension: 1, Radius: radius}); err == nil {
			t.Errorf("radius %v accepted", radius)
		}
	}
	for _, point := range []Spec{
		{Name: "simplex", Dimension: 1, Radius: 1}, {Name: "subsets", Dimension: 3, Radius: 1, Pick: 3},
	} {
		if _, err := Parse(point); err == nil {
			t.Errorf("%s of one point accepted", point.Name)
		}
	}
}
