package catalogue

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
	for want, spec := range map[string]Spec{
		"a box with low and high ends has none":               {Radius: 1, Low: []string{"0"}, High: []string{"1"}},
		"2 low ends: neither one for each of 3":               {Low: []string{"0", "0"}, High: []string{"1"}},
		"0 high ends: neither one":                            {Low: []string{"0"}},
		"coordinate 2 from 1 to 1: the low end must be below": {Low: []string{"0", "1", "0"}, High: []string{"1"}},
		"low end 1: not a number up to 1e15":                  {Low: []string{"NaN"}, High: []string{"1"}},
		"high end 1: not a number up to 1e15":                 {Low: []string{"0"}, High: []string{"1e16"}},
		"convex: low and high ends: set l1-ball has none":     {Name: "l1-ball", Low: []string{"0"}, High: []string{"1"}},
		"convex: radius 0: not in [1e-15, 1e+15]":             {},
	} {
		if spec.Dimension = 3; spec.Name == "" {
			spec.Name = "box"
		}
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", spec, err, want)
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
