package coco

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

// settingsOf returns the operator of usual settings and the given ones. The last value of a name counts.
func settingsOf(mechanism string, lines ...string) (operators.Operator, error) {
	m := mechanisms.Config{
		Name: mechanism, Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Window{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	return optest.Configure(Definition, m, append([]string{
		"UPDATE=projection", "LOSS=squared", "SET=l2-ball", "RADIUS=5", "DIMENSION=3", "STRONG_CONVEXITY=0.001", "CLIP=1",
	}, lines...)...)
}

// TestCautions checks that the squared loss without a start regulariser, which is valid but rarely intended, gives a
// warning, and that no other settings do.
func TestCautions(t *testing.T) {
	f := func(want bool, mechanism string, lines ...string) {
		t.Helper()
		c, err := settingsOf(mechanism, lines...)
		if err != nil {
			t.Fatal(err)
		}
		got := c.(operators.Cautious).Cautions()
		named := len(got) == 1 && strings.Contains(got[0], "ORIEL_LOSS=squared without ORIEL_START_REGULARIZER")
		if named != want || len(got) > 0 && !want {
			t.Errorf("%v: %q", lines, got)
		}
	}
	f(true, "blt")
	f(true, "tree-gaussian", "START_REGULARIZER=0")
	f(false, "blt", "START_REGULARIZER=0.001")
	f(false, "once-gaussian", "UPDATE=ogd")
	for _, loss := range []string{"logistic", "hinge", "absolute", "linear"} {
		f(false, "blt", "LOSS="+loss)
	}
}

// TestABrokenSettingIsReportedOnce checks that a wrong setting is not reported a second time as a problem of the set
// built from it.
func TestABrokenSettingIsReportedOnce(t *testing.T) {
	for line, want := range map[string]string{
		"RADIUS=5m": `ORIEL_RADIUS: "5m": not a number in decimal digits (unit: length)`, "RADIUS=-1": "ORIEL_RADIUS: -1: out of range (1e-15 to 1e15",
		"DIMENSION=3x": `ORIEL_DIMENSION: "3x": not a whole number in decimal digits (unit: coordinates)`,
		"SET=subsets":  "ORIEL_PICK: ",
	} {
		_, err := settingsOf("blt", line)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s alone", line, err, want)
		}
	}
}

// TestBoxesWithEnds checks boxes with their own ends for each coordinate in place of a radius, and the errors for wrong
// ends.
func TestBoxesWithEnds(t *testing.T) {
	c, err := settingsOf("blt", "SET=box", "RADIUS=", "LOW=0,-1,2", "HIGH=6")
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Describe(mechanisms.Config{Name: "blt", Batch: 1}); d.Radius != 3.5 || d.Diameter != math.Sqrt(36+49+16) {
		t.Errorf("radius %g, diameter %g", d.Radius, d.Diameter)
	}
	for want, lines := range map[string][]string{
		"ORIEL_LOW: not set; a box with ORIEL_HIGH":          {"SET=box", "RADIUS=", "HIGH=6"},
		"ORIEL_HIGH: not set; a box with ORIEL_LOW":          {"SET=box", "RADIUS=", "LOW=6"},
		"ORIEL_HIGH: 2 numbers: neither one for each of 3":   {"SET=box", "RADIUS=", "LOW=0", "HIGH=6,7"},
		"ORIEL_LOW: box: coordinate 1 from 7":                {"SET=box", "RADIUS=", "LOW=7", "HIGH=6"},
		"ORIEL_RADIUS: set; a box with ORIEL_LOW":            {"SET=box", "LOW=0", "HIGH=6"},
		"ORIEL_LOW: set; ORIEL_SET=l2-ball has none":         {"LOW=0", "HIGH=6"},
		`ORIEL_HIGH: entry 2: "b": not numbers up to 1e15 i`: {"SET=box", "RADIUS=", "LOW=0", "HIGH=6,b,7"},
		"ORIEL_RADIUS: not set; every set has one":           {"SET=box", "RADIUS="},
	} {
		if _, err := settingsOf("blt", lines...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", lines, err, want)
		}
	}
}
